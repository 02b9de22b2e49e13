/* By the generic ABI (System V Application Binary Interface, chapters 4 and 5), its supplements for x86-64, AArch64, Arm and RISC-V, and
 * for DT_RELR the generic ABI's proposal "Relative relocations". What files of 32 bits have is read as if they had 64. */
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

/* What differs between machines. */
typedef struct machine_form {
  uint16_t machine;    /* e_machine */
  uint16_t word_bytes; /* Of addresses. */
  uint32_t relative;   /* The type of relocations that add where the image lies. */
} machine_form;

static const machine_form kForms[] = {
    {EM_X86_64, 8, R_X86_64_RELATIVE},
    {EM_AARCH64, 8, R_AARCH64_RELATIVE},
    {EM_ARM, 4, R_ARM_RELATIVE},
    {EM_RISCV, 8, R_RISCV_RELATIVE},
};

static const machine_form* form_of(uint32_t machine) {
  for (uint32_t i = 0; i < sizeof(kForms) / sizeof(kForms[0]); ++i) {
    if (kForms[i].machine == machine) return &kForms[i];
  }
  return NULL;
}

static int is_32_bit(const machine_form* form) { return form->word_bytes == 4; }

static Elf64_Ehdr read_header(const machine_form* form, const uint8_t* at) {
  Elf64_Ehdr header;
  if (!is_32_bit(form)) {
    memcpy(&header, at, sizeof(header));
    return header;
  }
  Elf32_Ehdr narrow;
  memcpy(&narrow, at, sizeof(narrow));
  memcpy(header.e_ident, narrow.e_ident, sizeof(header.e_ident));
  header.e_type = narrow.e_type;
  header.e_machine = narrow.e_machine;
  header.e_phoff = narrow.e_phoff;
  header.e_phentsize = narrow.e_phentsize;
  header.e_phnum = narrow.e_phnum;
  return header;
}

static uint64_t header_bytes(const machine_form* form) {
  return is_32_bit(form) ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr);
}

static Elf64_Phdr read_segment(const machine_form* form, const uint8_t* at) {
  Elf64_Phdr segment;
  if (!is_32_bit(form)) {
    memcpy(&segment, at, sizeof(segment));
    return segment;
  }
  Elf32_Phdr narrow;
  memcpy(&narrow, at, sizeof(narrow));
  segment.p_type = narrow.p_type;
  segment.p_flags = narrow.p_flags;
  segment.p_offset = narrow.p_offset;
  segment.p_vaddr = narrow.p_vaddr;
  segment.p_filesz = narrow.p_filesz;
  segment.p_memsz = narrow.p_memsz;
  return segment;
}

static uint64_t segment_bytes(const machine_form* form) {
  return is_32_bit(form) ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
}

static Elf64_Dyn read_entry(const machine_form* form, const uint8_t* at) {
  Elf64_Dyn entry;
  if (!is_32_bit(form)) {
    memcpy(&entry, at, sizeof(entry));
    return entry;
  }
  Elf32_Dyn narrow;
  memcpy(&narrow, at, sizeof(narrow));
  entry.d_tag = narrow.d_tag;
  entry.d_un.d_val = narrow.d_un.d_val;
  return entry;
}

static uint64_t entry_bytes(const machine_form* form) {
  return is_32_bit(form) ? sizeof(Elf32_Dyn) : sizeof(Elf64_Dyn);
}

static Elf64_Sym read_symbol(const machine_form* form, const uint8_t* at) {
  Elf64_Sym symbol;
  if (!is_32_bit(form)) {
    memcpy(&symbol, at, sizeof(symbol));
    return symbol;
  }
  Elf32_Sym narrow;
  memcpy(&narrow, at, sizeof(narrow));
  symbol.st_name = narrow.st_name;
  symbol.st_shndx = narrow.st_shndx;
  symbol.st_value = narrow.st_value;
  return symbol;
}

static uint64_t symbol_bytes(const machine_form* form) {
  return is_32_bit(form) ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
}

/* One that has no addend has 0, and counts on what stands where it writes. */
static Elf64_Rela read_relocation(const machine_form* form, const uint8_t* at) {
  Elf64_Rela relocation;
  if (!is_32_bit(form)) {
    memcpy(&relocation, at, sizeof(relocation));
    return relocation;
  }
  Elf32_Rel narrow;
  memcpy(&narrow, at, sizeof(narrow));
  relocation.r_offset = narrow.r_offset;
  relocation.r_info =
      ELF64_R_INFO((uint64_t)ELF32_R_SYM(narrow.r_info), ELF32_R_TYPE(narrow.r_info));
  relocation.r_addend = 0;
  return relocation;
}

static uint64_t relocation_bytes(const machine_form* form) {
  return is_32_bit(form) ? sizeof(Elf32_Rel) : sizeof(Elf64_Rela);
}

typedef struct reader {
  const uint8_t* elf;
  uint64_t elf_bytes;
  uint64_t page_bytes;
  const machine_form* form;
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
  const machine_form* form = r->form;
  if (form == NULL) return "the code is for another machine";
  if (r->elf_bytes < header_bytes(form)) return "the code is no ELF file";
  const Elf64_Ehdr file = read_header(form, r->elf);
  if (memcmp(file.e_ident, ELFMAG, SELFMAG) != 0) return "the code is no ELF file";
  if (file.e_ident[EI_CLASS] != (is_32_bit(form) ? ELFCLASS32 : ELFCLASS64) ||
      file.e_ident[EI_DATA] != ELFDATA2LSB || file.e_machine != form->machine) {
    return "the code is for another machine";
  }
  if (file.e_type != ET_DYN) return "the code is no shared object";
  const uint64_t table_bytes = (uint64_t)file.e_phnum * segment_bytes(form);
  if (file.e_phentsize != segment_bytes(form) || file.e_phoff > r->elf_bytes ||
      table_bytes > r->elf_bytes - file.e_phoff) {
    return "the table of segments does not lie in the code's file";
  }
  /* Segments first: what others mean lies in them. */
  for (int pass = 0; pass < 2; ++pass) {
    for (uint32_t i = 0; i < file.e_phnum; ++i) {
      const Elf64_Phdr header = read_segment(form, r->elf + file.e_phoff + i * segment_bytes(form));
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
  uint64_t relocations = 0, relr = 0;
  const uint64_t step = entry_bytes(r->form);
  for (uint64_t at = 0; at + step <= r->dynamic.bytes; at += step) {
    const Elf64_Dyn entry = read_entry(r->form, r->elf + r->dynamic.offset + at);
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
      case DT_JMPREL:
        return "the code has relocations of a kind that is not known here";
      case DT_REL:
      case DT_RELA:
        if ((entry.d_tag == DT_REL) != is_32_bit(r->form)) {
          return "the code has relocations of a kind that is not known here";
        }
        relocations = value;
        break;
      case DT_RELSZ:
      case DT_RELASZ:
        r->image->relocations.bytes = value;
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
  if (r->image->relocations.bytes != 0) {
    error = read_table(r, relocations, &r->image->relocations);
  }
  if (error == NULL && r->image->relr.bytes != 0) error = read_table(r, relr, &r->image->relr);
  return error;
}

/* Whether so many bytes may be written there. */
static int is_written(const bare_image* image, uint64_t address, uint64_t bytes) {
  for (uint32_t i = 0; i < image->segment_count; ++i) {
    const bare_segment* s = &image->segments[i];
    if (s->is_written && address >= s->address && s->bytes >= bytes &&
        address - s->address <= s->bytes - bytes) {
      return 1;
    }
  }
  return 0;
}

static void add_at(uint8_t* at, uint64_t more, uint64_t word_bytes) {
  uint64_t value = 0;
  memcpy(&value, at, word_bytes);
  value += more;
  memcpy(at, &value, word_bytes);
}

/* Carries out all relocations, or with `memory` null checks them. */
static const char* relocate(const bare_image* image, const uint8_t* elf, const machine_form* form,
                            uint8_t* memory) {
  const uint64_t word_bytes = form->word_bytes;
  const uint64_t base = (uint64_t)(uintptr_t)memory;
  const uint64_t step = relocation_bytes(form);
  for (uint64_t i = 0; i + step <= image->relocations.bytes; i += step) {
    const Elf64_Rela relocation = read_relocation(form, elf + image->relocations.offset + i);
    if (ELF64_R_TYPE(relocation.r_info) == 0) continue;
    if (memory == NULL) {
      if (ELF64_R_TYPE(relocation.r_info) != form->relative ||
          ELF64_R_SYM(relocation.r_info) != 0) {
        return "the code needs symbols that nobody has";
      }
      if (!is_written(image, relocation.r_offset, word_bytes) ||
          (uint64_t)relocation.r_addend > image->bytes) {
        return "a relocation leaves the code";
      }
    } else if (is_32_bit(form)) {
      add_at(memory + relocation.r_offset, base, word_bytes);
    } else {
      const uint64_t value = base + (uint64_t)relocation.r_addend;
      memcpy(memory + relocation.r_offset, &value, sizeof(value));
    }
  }
  /* An even word is the next address; an odd one has a bit for each of the words that follow, one less than it has bits. */
  uint64_t next = 0;
  for (uint64_t i = 0; i + word_bytes <= image->relr.bytes; i += word_bytes) {
    uint64_t word = 0;
    memcpy(&word, elf + image->relr.offset + i, word_bytes);
    uint64_t bits = word & 1 ? word >> 1 : 1;
    if (!(word & 1)) next = word;
    for (uint64_t address = next; bits != 0; address += word_bytes, bits >>= 1) {
      if (!(bits & 1)) continue;
      if (memory != NULL) {
        add_at(memory + address, base, word_bytes);
      } else if (!is_written(image, address, word_bytes)) {
        return "a relocation leaves the code";
      }
    }
    next += word & 1 ? (8 * word_bytes - 1) * word_bytes : word_bytes;
  }
  return NULL;
}

/* By shifts: not every machine of 32 bits divides. */
static uint32_t remainder_of(uint32_t number, uint32_t by) {
  uint64_t rest = 0;
  for (int bit = 31; bit >= 0; --bit) {
    rest = rest << 1 | (number >> bit & 1);
    if (rest >= by) rest -= by;
  }
  return (uint32_t)rest;
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
  const uint64_t bucket_table = r->hash + 16 + (uint64_t)word_at(header + 8) * r->form->word_bytes;
  const uint64_t chains = bucket_table + (uint64_t)buckets * 4;
  const uint8_t* bucket = at(r, bucket_table + (uint64_t)remainder_of(hash, buckets) * 4, 4);
  if (bucket == NULL) return kMissing;
  for (uint64_t index = word_at(bucket); index >= first && index != 0; ++index) {
    const uint8_t* chain = at(r, chains + (index - first) * 4, 4);
    const uint64_t step = symbol_bytes(r->form);
    const uint8_t* bytes = at(r, r->symbols + index * step, step);
    if (chain == NULL || bytes == NULL) return kMissing;
    const Elf64_Sym symbol = read_symbol(r->form, bytes);
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
  r.form = form_of(machine);
  r.image = image;
  const char* error = read_segments(&r);
  if (error == NULL) error = read_dynamic(&r);
  if (error == NULL) error = relocate(image, elf, r.form, NULL);
  if (error == NULL) error = find_query(&r);
  return error;
}

void bare_write_image(const bare_image* image, const uint8_t* elf, uint8_t* memory) {
  for (uint32_t i = 0; i < image->segment_count; ++i) {
    const bare_segment* s = &image->segments[i];
    memcpy(memory + s->address, elf + s->file_offset, s->file_bytes);
  }
  uint16_t machine;
  memcpy(&machine, elf + offsetof(Elf64_Ehdr, e_machine), sizeof(machine));
  relocate(image, elf, form_of(machine), memory);
}
