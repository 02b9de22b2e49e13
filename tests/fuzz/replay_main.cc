// Runs a fuzz target without libFuzzer: every file named on the command line, then a number of
// mutations of them. Deterministic, so that the fuzz targets can be ordinary tests.
//
// Usage: target [--mutations=N] FILE...
// A crash prints the input that led to it in hex; put it into the corpus with `xxd -r -p`.

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// Present in a binary with a sanitizer, which reports and exits without raising a signal.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

constexpr size_t kMaxPrintedBytes = 4096;
constexpr size_t kMaxInputBytes = 1 << 20;

// The input in work, for the crash handlers. A raw pointer: they may run at any moment.
const std::string* current_input = nullptr;

void PrintCurrentInput() {
  if (current_input == nullptr) return;
  const size_t size = std::min(current_input->size(), kMaxPrintedBytes);
  std::fprintf(stderr, "failing input, %zu of %zu bytes: ", size, current_input->size());
  for (size_t i = 0; i < size; ++i) {
    std::fprintf(stderr, "%02x", static_cast<unsigned char>((*current_input)[i]));
  }
  std::fprintf(stderr, "\n");
}

void OnSignal(int signal) {
  PrintCurrentInput();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void InstallCrashHandlers() {
  // SIGABRT comes from failed checks in any build; the others belong to the sanitizer, if any.
  std::signal(SIGABRT, OnSignal);
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(PrintCurrentInput);
    return;
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, OnSignal);
}

void RunOnce(const std::string& input) {
  current_input = &input;
  // A copy of exactly this size, so that ASan sees a read beyond the end.
  const std::vector<uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  current_input = nullptr;
}

// Changes inputs in the ways that parsers dislike.
class Mutator {
 public:
  explicit Mutator(const std::vector<std::string>& corpus) : corpus_(corpus) {}

  std::string Next() {
    std::string input = Pick();
    for (uint32_t changes = 1 + Below(4); changes > 0; --changes) Change(input);
    if (input.size() > kMaxInputBytes) input.resize(kMaxInputBytes);
    return input;
  }

 private:
  // Not std::uniform_int_distribution, which differs between libraries.
  uint32_t Below(size_t bound) { return bound == 0 ? 0 : static_cast<uint32_t>(random_() % bound); }

  const std::string& Pick() { return corpus_[Below(corpus_.size())]; }

  void Change(std::string& input) {
    const size_t at = Below(input.size() + 1);
    switch (Below(7)) {
      case 0:  // Flip a bit.
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << Below(8)));
        break;
      case 1:  // Any other byte.
        if (at < input.size()) input[at] = static_cast<char>(random_());
        break;
      case 2:  // Cut off the end.
        input.resize(at);
        break;
      case 3:  // Cut out a piece.
        input.erase(at, Below(32));
        break;
      case 4: {  // Repeat a piece.
        const std::string piece = input.substr(at, Below(32));
        input.insert(at, piece);
        break;
      }
      case 5:  // Put in a piece of another input.
        input.insert(at, PieceOfAnother());
        break;
      default:
        OverwriteNumber(input, at);
    }
  }

  std::string PieceOfAnother() {
    const std::string& other = Pick();
    return other.substr(Below(other.size() + 1), Below(32));
  }

  // Sizes, offsets and counts at the ends of their ranges.
  void OverwriteNumber(std::string& input, size_t at) {
    static constexpr uint64_t kNumbers[] = {0,          1,          0x7f,      0x80,
                                            0xff,       0x7fff,     0xffff,    0x7fffffff,
                                            0x80000000, 0xffffffff, INT64_MAX, UINT64_MAX};
    const uint64_t number = kNumbers[Below(std::size(kNumbers))];
    const size_t size = std::min(size_t{1} << Below(4), input.size() - at);
    if (size > 0) std::memcpy(&input[at], &number, size);
  }

  const std::vector<std::string>& corpus_;
  std::mt19937 random_{20240229};
};

}  // namespace

int main(int argc, char** argv) {
  static constexpr char kMutations[] = "--mutations=";
  long mutations = 0;
  std::vector<std::string> corpus = {""};
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], kMutations, std::strlen(kMutations)) == 0) {
      mutations = std::atol(argv[i] + std::strlen(kMutations));
      continue;
    }
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "cannot read '%s'\n", argv[i]);
      return 1;
    }
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  InstallCrashHandlers();
  for (const std::string& input : corpus) RunOnce(input);
  Mutator mutator(corpus);
  for (long i = 0; i < mutations; ++i) RunOnce(mutator.Next());
  std::printf("%zu inputs of the corpus and %ld mutations\n", corpus.size(), mutations);
  return 0;
}
