#include "client/terminal/line_editor.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "client/terminal/history_file.h"
#include "client/terminal/listing.h"
#include "core/base/check.h"
#include "core/base/files.h"
#include "third_party/libedit/histedit.h"

namespace slipway::cli {
namespace {

// libedit takes bytes as the locale says; what is typed at a terminal is UTF-8.
void UseUtf8() {
  if (setlocale(LC_CTYPE, "") == nullptr || absl::string_view(nl_langinfo(CODESET)) != "UTF-8") {
    setlocale(LC_CTYPE, "C.UTF-8");
  }
}

class LineEditor final : public LineReader {
 public:
  explicit LineEditor(const absl::StatusOr<std::string>& history_path)
      : file_(history_path.value_or("")),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        tells_above_(isatty(STDERR_FILENO) == 1) {
    SLIPWAY_CHECK(wake_.is_open(), "cannot make an eventfd");
    UseUtf8();
    editor_ = el_init("slipway", stdin, stdout, stderr);
    history_ = history_init();
    HistEvent event;
    history(history_, &event, H_SETSIZE, static_cast<int>(HistoryFile::kMaxLines));
    history(history_, &event, H_SETUNIQUE, 1);
    el_set(editor_, EL_CLIENTDATA, this);
    el_set(editor_, EL_PROMPT, &PromptOf);
    el_set(editor_, EL_HIST, history, history_);
    el_set(editor_, EL_EDITOR, "emacs");
    el_set(editor_, EL_GETCFN, &ReadCharacterOf);
    el_set(editor_, EL_ADDFN, "slipway-complete", "Completes the word before the cursor",
           &CompleteOf);
    el_source(editor_, nullptr);
    // Behind what the user wishes, since it is what the prompt promises. Signals are characters while a line is read.
    el_set(editor_, EL_SETTY, "-d", "-isig", nullptr);
    // Between two lines as well, lest the system makes a 0 of a ^D that is typed ahead.
    el_set(editor_, EL_SETTY, "-x", "-icanon", nullptr);
    el_set(editor_, EL_BIND, "^C", "em-kill-line", nullptr);
    el_set(editor_, EL_BIND, "^I", "slipway-complete", nullptr);
    NoteHistory(history_path.status());
    if (!history_path.ok()) return;
    const absl::StatusOr<std::vector<std::string>> lines = file_.Read();
    NoteHistory(lines.status());
    if (!lines.ok()) return;
    for (const std::string& line : *lines) history(history_, &event, H_ENTER, line.c_str());
  }
  ~LineEditor() override {
    el_end(editor_);
    history_end(history_);
  }

  std::optional<std::string> Read(const std::string& prompt, const Completer& complete) override {
    prompt_ = prompt;
    complete_ = &complete;
    {
      absl::MutexLock lock(&mutex_);
      if (is_stopped_) return std::nullopt;
      is_reading_ = true;
    }
    // Before the prompt is seen, and not after: what is typed at it is then a line's.
    el_set(editor_, EL_PREP_TERM, 1);
    int count = 0;
    const char* const typed = el_gets(editor_, &count);
    {
      absl::MutexLock lock(&mutex_);
      is_reading_ = false;
    }
    ShowTold();
    if (typed == nullptr || count <= 0) {
      fputc('\n', stdout);
      fflush(stdout);
      return std::nullopt;
    }
    std::string line(absl::StripSuffix(absl::string_view(typed, strlen(typed)), "\n"));
    Remember(line);
    return line;
  }

  void Stop() override {
    absl::MutexLock lock(&mutex_);
    is_stopped_ = true;
    Wake();
  }

  void Tell(absl::string_view lines) override {
    absl::MutexLock lock(&mutex_);
    if (is_reading_ && tells_above_) {
      absl::StrAppend(&told_, lines);
      Wake();
      return;
    }
    fwrite(lines.data(), 1, lines.size(), stderr);
  }

 private:
  static LineEditor& Of(EditLine* editor) {
    void* self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return *static_cast<LineEditor*>(self);
  }
  static char* PromptOf(EditLine* editor) { return Of(editor).prompt_.data(); }
  static int ReadCharacterOf(EditLine* editor, wchar_t* character) {
    return Of(editor).ReadCharacter(character);
  }
  static unsigned char CompleteOf(EditLine* editor, int) { return Of(editor).Complete(); }

  // 1: there is one; 0: nothing more is typed, or it shall not be waited for.
  int ReadCharacter(wchar_t* character) {
    mbstate_t state = {};
    while (true) {
      pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                      {.fd = wake_.get(), .events = POLLIN, .revents = 0}};
      if (poll(fds, 2, -1) < 0 && errno != EINTR) return 0;
      if (fds[1].revents != 0) {
        uint64_t count = 0;
        if (read(wake_.get(), &count, sizeof(count)) < 0 && errno != EAGAIN) return 0;
        absl::ReleasableMutexLock lock(&mutex_);
        if (is_stopped_) return 0;
        lock.Release();
        if (ShowTold()) el_set(editor_, EL_REFRESH);
      }
      if (fds[0].revents == 0) continue;
      char byte = 0;
      const ssize_t size = read(STDIN_FILENO, &byte, 1);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return 0;
      FollowWindow();
      const size_t length = mbrtowc(character, &byte, 1, &state);
      if (length == static_cast<size_t>(-1)) state = {};  // No UTF-8: passed over.
      if (length <= 1) return 1;
    }
  }

  // The window may have another size than when it was looked at last.
  void FollowWindow() {
    winsize size = {};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return;
    if (size.ws_col == window_.ws_col && size.ws_row == window_.ws_row) return;
    if (window_.ws_col != 0) el_resize(editor_);
    window_ = size;
  }

  // Whether there was something to show; then what is typed must be shown again.
  bool ShowTold() {
    std::string told;
    {
      absl::MutexLock lock(&mutex_);
      told.swap(told_);
    }
    if (told.empty()) return false;
    fputs("\r\033[K", stdout);
    fflush(stdout);
    fwrite(told.data(), 1, told.size(), stderr);
    return true;
  }

  unsigned char Complete() {
    const LineInfo* const info = el_line(editor_);
    const absl::string_view before(info->buffer, static_cast<size_t>(info->cursor - info->buffer));
    const Completion completion = (*complete_)(before);
    if (completion.candidates.empty()) return CC_ERROR;
    const absl::string_view typed = before.substr(completion.begin);
    std::string common = CommonPrefix(completion.candidates);
    const bool is_whole = completion.candidates.size() == 1;
    if (is_whole && !absl::EndsWith(common, "/") && !absl::EndsWith(common, "=")) common += ' ';
    if (is_whole || common.size() > typed.size()) {
      el_deletestr(editor_, static_cast<int>(CountCharacters(typed)));
      return el_insertstr(editor_, common.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
    }
    winsize size = {};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    absl::FPrintF(stdout, "\n%s", InColumns(completion.candidates, size.ws_col));
    return CC_REDISPLAY;
  }

  void Remember(const std::string& line) {
    if (absl::StripAsciiWhitespace(line).empty()) return;
    HistEvent event;
    history(history_, &event, H_ENTER, line.c_str());
    if (file_is_good_) NoteHistory(file_.Append(line));
  }

  void NoteHistory(const absl::Status& status) {
    if (status.ok()) return;
    file_is_good_ = false;
    Tell(absl::StrCat("what is typed is not kept for the next time: ", status.message(), "\n"));
  }

  void Wake() const {
    const uint64_t one = 1;
    // A counter that is full wakes as well.
    if (write(wake_.get(), &one, sizeof(one)) < 0 && errno != EAGAIN) perror("slipway");
  }

  const HistoryFile file_;
  const UniqueFd wake_;  // An eventfd.
  const bool tells_above_;
  bool file_is_good_ = true;
  EditLine* editor_ = nullptr;
  History* history_ = nullptr;
  std::string prompt_;
  const Completer* complete_ = nullptr;
  winsize window_ = {};

  absl::Mutex mutex_;
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::string told_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<LineReader> MakeLineEditor(const absl::StatusOr<std::string>& history_path) {
  return std::make_unique<LineEditor>(history_path);
}

}  // namespace slipway::cli
