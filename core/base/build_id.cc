#include "core/base/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

struct Library {
  std::string name;
  std::string build_id;  // Empty when it has none.
};

struct Search {
  absl::string_view prefix;
  std::vector<Library> found;
};

// The contents of the note NT_GNU_BUILD_ID among the notes of a segment, or nothing.
absl::string_view BuildIdAmong(absl::string_view notes, size_t alignment) {
  const auto aligned = [alignment](size_t size) {
    return (size + alignment - 1) / alignment * alignment;
  };
  const absl::string_view gnu(ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU));
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof(note)) {
    std::memcpy(&note, notes.data(), sizeof(note));
    const size_t contents_at = sizeof(note) + aligned(note.n_namesz);
    const size_t end = contents_at + aligned(note.n_descsz);
    if (end > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof(note), note.n_namesz) == gnu) {
      return notes.substr(contents_at, note.n_descsz);
    }
    notes.remove_prefix(end);
  }
  return {};
}

int Visit(struct dl_phdr_info* info, size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  const absl::string_view path(info->dlpi_name);
  const absl::string_view name = path.substr(path.rfind('/') + 1);
  if (!absl::StartsWith(name, search.prefix)) return 0;
  Library library{std::string(name), ""};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const absl::string_view notes(reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr),
                                  segment.p_memsz);
    const absl::string_view id = BuildIdAmong(notes, segment.p_align == 8 ? 8 : 4);
    if (!id.empty()) library.build_id = absl::BytesToHexString(id);
  }
  search.found.push_back(library);
  return 0;
}

}  // namespace

absl::StatusOr<std::string> LoadedLibraryId(absl::string_view prefix) {
  Search search{prefix, {}};
  dl_iterate_phdr(Visit, &search);
  if (search.found.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no shared library \"", prefix, "...\" is loaded into this process"));
  }
  const Library& library = search.found.front();
  if (search.found.size() > 1) {
    return absl::FailedPreconditionError(absl::StrCat("both \"", library.name, "\" and \"",
                                                      search.found[1].name,
                                                      "\" are loaded into this process"));
  }
  if (library.build_id.empty()) {
    return absl::NotFoundError(absl::StrCat("the shared library \"", library.name,
                                            "\" has no build id; link it with --build-id"));
  }
  return absl::StrCat(library.name, " ", library.build_id);
}

}  // namespace slipway
