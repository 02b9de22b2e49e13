#include "client/shell/completion.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/shell/commands.h"
#include "core/base/files.h"

namespace slipway::cli {
namespace {

struct Begun {
  std::vector<std::string> words;  // Those that are ended.
  size_t begin = 0;                // Of the last one, which may be empty.
  std::string text;                // As it is meant so far.
  bool is_quoted = false;
  bool is_comment = false;
};

// As ParseCommandLine (command_line.h) takes lines apart, but what is last may be anything.
Begun TakeApart(absl::string_view line) {
  Begun begun;
  bool is_open = false;  // In a quote.
  bool is_word = false;
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (is_open) {
      if (c == '\\' && at + 1 < line.size()) {
        begun.text += line[++at];
      } else if (c == '"') {
        is_open = false;
      } else {
        begun.text += c;
      }
    } else if (absl::ascii_isspace(c)) {
      if (is_word) begun.words.push_back(std::move(begun.text));
      begun.text.clear();
      is_word = begun.is_quoted = false;
    } else if (!is_word && c == '#') {
      begun.is_comment = true;
      return begun;
    } else {
      if (!is_word) begun.begin = at;
      if (c == '"') {
        is_open = true;
        begun.is_quoted = true;
      } else {
        begun.text += c;
      }
      is_word = true;
    }
  }
  if (!is_word) begun.begin = line.size();
  return begun;
}

bool NeedsQuotes(absl::string_view text) {
  return text.empty() || std::any_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isspace(c) || c == '"' || c == '=' || c == '#' || c == ',';
         });
}

// As it is written in a line; of a folder the quote is left open, since more follows.
std::string Written(const std::string& text, bool is_quoted) {
  if (!is_quoted && !NeedsQuotes(text)) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}}),
                      absl::EndsWith(text, "/") ? "" : "\"");
}

bool IsWanted(absl::string_view file, absl::Span<const char* const> endings) {
  return absl::EndsWith(file, "/") ||
         std::any_of(endings.begin(), endings.end(),
                     [&](const char* ending) { return absl::EndsWith(file, ending); });
}

// What a word may be, of what begins as it does.
class Candidates {
 public:
  explicit Candidates(const Begun& begun) : begun_(begun) {}
  void Add(const std::string& word) {
    if (absl::StartsWith(word, begun_.text)) words_.push_back(Written(word, begun_.is_quoted));
  }
  void AddAll(const std::vector<std::string>& words) {
    for (const std::string& word : words) Add(word);
  }
  // An option, whose value is typed behind it.
  void AddKey(const std::string& key) {
    if (!begun_.is_quoted && absl::StartsWith(key, begun_.text)) words_.push_back(key + "=");
  }
  void AddFiles(absl::Span<const char* const> endings, const ListFolder& list_folder) {
    const size_t slash = begun_.text.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : begun_.text.substr(0, slash + 1);
    for (const std::string& file : list_folder(folder)) {
      // Hidden ones are for whoever asks for them.
      if (file[0] == '.' && !absl::StartsWith(begun_.text, folder + ".")) continue;
      if (IsWanted(file, endings)) Add(folder + file);
    }
  }
  std::vector<std::string> Take() {
    std::sort(words_.begin(), words_.end());
    words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
    return std::move(words_);
  }

 private:
  const Begun& begun_;
  std::vector<std::string> words_;
};

void AddArgument(WordKind kind, const KnownNames& names, const ListFolder& list_folder,
                 Candidates& candidates) {
  switch (kind) {
    case WordKind::kProgram:
      return candidates.AddAll(names.programs);
    case WordKind::kTensor:
      return candidates.AddAll(names.tensors);
    case WordKind::kEither:
      candidates.AddAll(names.programs);
      return candidates.AddAll(names.tensors);
    case WordKind::kArtifactFile:
      return candidates.AddFiles({".slip"}, list_folder);
    case WordKind::kTensorFile:
      return candidates.AddFiles({".npy", ".npz", ".pb"}, list_folder);
    case WordKind::kNpyFile:
      return candidates.AddFiles({".npy"}, list_folder);
    case WordKind::kOther:
      return;
  }
}

}  // namespace

std::vector<std::string> ListFolderOnDisk(const std::string& folder) {
  const std::string path = folder.empty() ? "." : folder;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(path.c_str()), closedir);
  std::vector<std::string> names;
  if (open == nullptr) return names;
  while (const dirent* entry = readdir(open.get())) {
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat info;
    const bool is_folder = stat(JoinPath(path, name).c_str(), &info) == 0 && S_ISDIR(info.st_mode);
    if (is_folder) name += '/';
    names.push_back(std::move(name));
  }
  return names;
}

Completion CompleteLine(absl::string_view before, const KnownNames& names,
                        const ListFolder& list_folder) {
  const Begun begun = TakeApart(before);
  Completion completion{.begin = begun.begin, .candidates = {}};
  if (begun.is_comment) return completion;
  Candidates candidates(begun);
  const auto equals = std::find(begun.words.begin(), begun.words.end(), "=");
  const bool gives = equals != begun.words.end();
  const auto first = gives ? equals + 1 : begun.words.begin();
  const auto words = static_cast<size_t>(begun.words.end() - first);
  for (const Command& command : Commands()) {
    if (words == 0) {
      if (gives ? command.results.max > 0 : command.results.min == 0) candidates.Add(command.name);
      continue;
    }
    if (*first != command.name) continue;
    // Options stand anywhere, and count for no word.
    const auto place = static_cast<size_t>(
        std::count_if(first + 1, begun.words.end(),
                      [](const std::string& word) { return !absl::StrContains(word, '='); }));
    if (place < command.words.max && !command.kinds.empty()) {
      const WordKind kind = command.kinds[std::min(place, command.kinds.size() - 1)];
      AddArgument(kind, names, list_folder, candidates);
    }
    if (place >= command.words.min || !begun.text.empty()) {
      for (const std::string& key : command.options) candidates.AddKey(key);
    }
  }
  completion.candidates = candidates.Take();
  return completion;
}

}  // namespace slipway::cli
