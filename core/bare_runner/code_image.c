/* By the generic ABI (System V Application Binary Interface, chapters 4 and 5), its supplements for x86-64 and AArch64, and for
 * DT_RELR the generic ABI's proposal "Relative relocations". */
#include "core/bare_runner/code_image.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "core/kernel_abi/kernel_abi.h"

/* Debian 12's elf.h has it, older ones have not. */
#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR 36
#define DT_RELRENT 37
#endif

typedef struct reader {
  const uint8_t* elf;
  uint64_t elf_bytes;
  uint64_t page_bytes;
  uint32_t machine;
  bare_image* image;
  bare_table dynamic;
  uint64_t symbols; /* Addresses. */
  uint64_t strings;
  uint64_t strings_bytes;
  uint64_t hash;
} reader;

static uint64_t round_up(uint64_t number, uint64_t to) { return (number + to - 1) & ~(to - 1); }

/* The bytes of the file at an address, `bytes` of them; null where it has not so many. */
static const uint8_t* at(const reader* r, uint64_t address, uint64_t bytes) {
  for (uint32_t i = 0; i < r->image->segment_count; ++i) {
    const bare_segment* s = &r->image->segments[i];
    if (address < s->address || address - s->address > s->file_bytes) continue;
    const uint64_t offset = address - s->address;
    if (bytes <= s->file_bytes - offset) return r->elf + s->file_offset + offset;
  }
  return NULL;
}

static const char* read_table(const reader* r, uint64_t address, bare_table* table) {
  const uint8_t* bytes = at(r, address, table->bytes);
  if (bytes == NULL) return "a table does not lie in the code's file";
  table->offset = (uint64_t)(bytes - r->elf);
  return NULL;
}

static const char* read_load(reader* r, const Elf64_Phdr* header) {
  bare_image* image = r->image;
  if (image->segment_count == BARE_MAX_SEGMENTS) return "the code has too many segments";
  if (header->p_offset > r->elf_bytes || header->p_filesz > r->elf_bytes - header->p_offset ||
      header->p_filesz > header->p_memsz) {
    return "a segment does not lie in the code's file";
  }
  if (header->p_vaddr > BARE_MAX_IMAGE_BYTES ||
      header->p_memsz > BARE_MAX_IMAGE_BYTES - header->p_vaddr) {
    return "the code is larger than 1 GiB";
  }
  /* Segments ascend, and each begins on pages of its own. */
  if ((header->p_vaddr & ~(r->page_bytes - 1)) < image->bytes) {
    return "two segments share a page of this machine";
  }
  bare_segment* segment = &image->segments[image->segment_count++];
  segment->address = header->p_vaddr;
  segment->bytes = header->p_memsz;
  segment->file_offset = header->p_offset;
  segment->file_bytes = header->p_filesz;
  segment->is_written = (header->p_flags & PF_W) != 0;
  segment->is_run = (header->p_flags & PF_X) != 0;
  if (segment->is_written && segment->is_run) return "a segment is both written and run";
  image->bytes = round_up(header->p_vaddr + header->p_memsz, r->page_bytes);
  return NULL;
}

/* What may not be written any more lies in one segment, and ends where its last whole page does. */
static void set_relro(reader* r, const Elf64_Phdr* header) {
  bare_image* image = r->image;
  for (uint32_t i = 0; i < image->segment_count; ++i) {
    const bare_segment* s = &image->segments[i];
    if (!s->is_written || header->p_vaddr < s->address ||
        header->p_vaddr - s->address >= s->bytes) {
      continue;
    }
    const uint64_t begin = s->address & ~(r->page_bytes - 1);
    const uint64_t last = round_up(s->address + s->bytes, r->page_bytes);
    uint64_t end = last;
    if (header->p_memsz < last - header->p_vaddr) {
      end = (header->p_vaddr + header->p_memsz) & ~(r->page_bytes - 1);
    }
    if (header->p_vaddr - begin >= r->page_bytes || end <= begin) return;
    image->relro_begin = begin;
    image->relro_end = end;
    return;
  }
}

static const char* read_segments(reader* r) {
  Elf64_Ehdr file;
  if (r->elf_bytes < sizeof(file)) return "the code is no ELF file";
  memcpy(&file, r->elf, sizeof(file));
  if (memcmp(file.e_ident, ELFMAG, SELFMAG) != 0) return "the code is no ELF file";
  if (file.e_ident[EI_CLASS] != ELFCLASS64 || file.e_ident[EI_DATA] != ELFDATA2LSB ||
      file.e_machine != r->machine) {
    return "the code is for another machine";
  }
  if (file.e_type != ET_DYN) return "the code is no shared object";
  const uint64_t table_bytes = (uint64_t)file.e_phnum * sizeof(Elf64_Phdr);
  if (file.e_phentsize != sizeof(Elf64_Phdr) || file.e_phoff > r->elf_bytes ||
      table_bytes > r->elf_bytes - file.e_phoff) {
    return "the table of segments does not lie in the code's file";
  }
  /* Segments first: what others mean lies in them. */
  for (int pass = 0; pass < 2; ++pass) {
    for (uint32_t i = 0; i < file.e_phnum; ++i) {
      Elf64_Phdr header;
      memcpy(&header, r->elf + file.e_phoff + i * sizeof(header), sizeof(header));
      if (pass == 0 && header.p_type == PT_LOAD && header.p_memsz != 0) {
        const char* error = read_load(r, &header);
        if (error != NULL) return error;
      }
      if (pass == 0) continue;
      if (header.p_type == PT_TLS) return "the code has thread-local variables";
      if (header.p_type == PT_GNU_RELRO) set_relro(r, &header);
      if (header.p_type == PT_DYNAMIC) {
        r->dynamic.bytes = header.p_filesz;
        const char* error = read_table(r, header.p_vaddr, &r->dynamic);
        if (error != NULL) return error;
      }
    }
  }
  return r->dynamic.bytes == 0 ? "the code is no shared object" : NULL;
}

static const char* read_dynamic(reader* r) {
  uint64_t rela = 0, relr = 0;
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= r->dynamic.bytes; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    memcpy(&entry, r->elf + r->dynamic.offset + at, sizeof(entry));
    const uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
      case DT_NEEDED:
        return "the code needs a library";
      case DT_INIT:
      case DT_INIT_ARRAYSZ:
      case DT_PREINIT_ARRAYSZ:
        if (value != 0) return "the code has initializers";
        break;
      case DT_TEXTREL:
      case DT_REL:
      case DT_JMPREL:
        return "the code has relocations of a kind that is not known here";
      case DT_RELA:
        rela = value;
        break;
      case DT_RELASZ:
        r->image->rela.bytes = value;
        break;
      case DT_RELR:
        relr = value;
        break;
      case DT_RELRSZ:
        r->image->relr.bytes = value;
        break;
      case DT_SYMTAB:
        r->symbols = value;
        break;
      case DT_STRTAB:
        r->strings = value;
        break;
      case DT_STRSZ:
        r->strings_bytes = value;
        break;
      case DT_GNU_HASH:
        r->hash = value;
        break;
      case DT_NULL:
        at = r->dynamic.bytes;
        break;
      default:
        break;
    }
  }
  const char* error = NULL;
  if (r->image->rela.bytes != 0) error = read_table(r, rela, &r->image->rela);
  if (error == NULL && r->image->relr.bytes != 0) error = read_table(r, relr, &r->image->relr);
  return error;
}

/* Whether a number of 64 bits may be written there. */
static int is_written(const bare_image* image, uint64_t address) {
  for (uint32_t i = 0; i < image->segment_count; ++i) {
    const bare_segment* s = &image->segments[i];
    if (s->is_written && address >= s->address && s->bytes >= 8 &&
        address - s->address <= s->bytes - 8) {
      return 1;
    }
  }
  return 0;
}

/* Carries out all relocations, or with `memory` null checks them. */
static const char* relocate(const bare_image* image, const uint8_t* elf, uint32_t machine,
                            uint8_t* memory) {
  const uint32_t relative = machine == EM_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE;
  const uint64_t base = (uint64_t)(uintptr_t)memory;
  for (uint64_t i = 0; i + sizeof(Elf64_Rela) <= image->rela.bytes; i += sizeof(Elf64_Rela)) {
    Elf64_Rela rela;
    memcpy(&rela, elf + image->rela.offset + i, sizeof(rela));
    if (memory == NULL) {
      if (ELF64_R_TYPE(rela.r_info) == 0) continue;
      if (ELF64_R_TYPE(rela.r_info) != relative || ELF64_R_SYM(rela.r_info) != 0) {
        return "the code needs symbols that nobody has";
      }
      if (!is_written(image, rela.r_offset) || (uint64_t)rela.r_addend > image->bytes) {
        return "a relocation leaves the code";
      }
    } else if (ELF64_R_TYPE(rela.r_info) != 0) {
      const uint64_t value = base + (uint64_t)rela.r_addend;
      memcpy(memory + rela.r_offset, &value, sizeof(value));
    }
  }
  /* An even word is the next address; an odd one has a bit for each of the 63 words that follow. */
  uint64_t next = 0;
  for (uint64_t i = 0; i + 8 <= image->relr.bytes; i += 8) {
    uint64_t word;
    memcpy(&word, elf + image->relr.offset + i, sizeof(word));
    uint64_t bits = word & 1 ? word >> 1 : 1;
    if (!(word & 1)) next = word;
    for (uint64_t address = next; bits != 0; address += 8, bits >>= 1) {
      if (!(bits & 1)) continue;
      if (memory == NULL) {
        if (!is_written(image, address)) return "a relocation leaves the code";
        continue;
      }
      uint64_t value;
      memcpy(&value, memory + address, sizeof(value));
      value += base;
      memcpy(memory + address, &value, sizeof(value));
    }
    next += word & 1 ? 63 * 8 : 8;
  }
  return NULL;
}

static int has_name(const reader* r, const Elf64_Sym* symbol) {
  static const char kName[] = SLIPWAY_QUERY_SYMBOL;
  if (symbol->st_name > r->strings_bytes || sizeof(kName) > r->strings_bytes - symbol->st_name) {
    return 0;
  }
  const uint8_t* name = at(r, r->strings + symbol->st_name, sizeof(kName));
  return name != NULL && memcmp(name, kName, sizeof(kName)) == 0;
}

static uint32_t word_at(const uint8_t* bytes) {
  uint32_t word;
  memcpy(&word, bytes, sizeof(word));
  return word;
}

/* By the table of hashes; the filter before it only saves time. */
static const char* find_query(reader* r) {
  static const char kMissing[] = "the code does not export " SLIPWAY_QUERY_SYMBOL;
  uint32_t hash = 5381;
  for (const char* c = SLIPWAY_QUERY_SYMBOL; *c != 0; ++c) hash = hash * 33 + (uint8_t)*c;
  const uint8_t* header = at(r, r->hash, 16);
  if (r->hash == 0 || header == NULL) return kMissing;
  const uint32_t buckets = word_at(header);
  const uint32_t first = word_at(header + 4);
  if (buckets == 0) return kMissing;
  const uint64_t bucket_table = r->hash + 16 + (uint64_t)word_at(header + 8) * 8;
  const uint64_t chains = bucket_table + (uint64_t)buckets * 4;
  const uint8_t* bucket = at(r, bucket_table + (uint64_t)(hash % buckets) * 4, 4);
  if (bucket == NULL) return kMissing;
  for (uint64_t index = word_at(bucket); index >= first && index != 0; ++index) {
    const uint8_t* chain = at(r, chains + (index - first) * 4, 4);
    const uint8_t* bytes = at(r, r->symbols + index * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
    if (chain == NULL || bytes == NULL) return kMissing;
    Elf64_Sym symbol;
    memcpy(&symbol, bytes, sizeof(symbol));
    if ((word_at(chain) | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF &&
        has_name(r, &symbol)) {
      r->image->query = symbol.st_value;
      for (uint32_t i = 0; i < r->image->segment_count; ++i) {
        const bare_segment* s = &r->image->segments[i];
        if (s->is_run && symbol.st_value >= s->address &&
            symbol.st_value - s->address < s->file_bytes) {
          return NULL;
        }
      }
      return kMissing;
    }
    if (word_at(chain) & 1) return kMissing;
  }
  return kMissing;
}

const char* bare_read_image(const uint8_t* elf, uint64_t elf_bytes, uint32_t machine,
                            uint64_t page_bytes, bare_image* image) {
  reader r;
  memset(&r, 0, sizeof(r));
  memset(image, 0, sizeof(*image));
  r.elf = elf;
  r.elf_bytes = elf_bytes;
  r.page_bytes = page_bytes;
  r.machine = machine;
  r.image = image;
  const char* error = read_segments(&r);
  if (error == NULL) error = read_dynamic(&r);
  if (error == NULL) error = relocate(image, elf, machine, NULL);
  if (error == NULL) error = find_query(&r);
  return error;
}

void bare_write_image(const bare_image* image, const uint8_t* elf, uint8_t* memory) {
  for (uint32_t i = 0; i < image->segment_count; ++i) {
    const bare_segment* s = &image->segments[i];
    memcpy(memory + s->address, elf + s->file_offset, s->file_bytes);
  }
  Elf64_Ehdr file;
  memcpy(&file, elf, sizeof(file));
  relocate(image, elf, file.e_machine, memory);
}
