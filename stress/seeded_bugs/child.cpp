// SPDX-License-Identifier: BSL-1.0
#include "child.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "../races/sanitized.hpp"
#include "board.hpp"
#include "watched.hpp"

namespace byre::stress::planted {
namespace {

/// Of this process, if it is a child.
Board* this_childs_board = nullptr;

[[noreturn]] void end_child(Ended ended, std::string_view text) noexcept {
  this_childs_board->say(ended, text);
  ::_exit(0);
}

/// A child that spins or sleeps for ever is not to outlive who started it, however that ends.
void end_with(pid_t parent) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(0);  // it ended before it could be told
  }
}

/// What a child does.
[[noreturn]] void be_child(Race::Run run, RaceSettings settings, Board& board) {
  this_childs_board = &board;
  board.begin_round(1);
  try {
    settings.after_round = [&](const RaceResult& result) {
      // A sanitizer may have more to say, at the end of the race or of the process.
      if (!result.failures.empty()) {
        board.say(Ended::by_failure, result.failures.front());
        if (!is_sanitized) {
          ::_exit(0);
        }
      }
      board.begin_round(std::min(result.rounds + 1, settings.rounds));
    };
    run(settings);
  } catch (const std::exception& error) {
    end_child(Ended::by_error, error.what());
  }
  std::exit(0);  // looks for leaks, where a sanitizer does
}

[[noreturn]] void throw_error(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

/// What a child writes to its standard error; its end is the child's.
class Voice {
 public:
  Voice() {
    if (::pipe(ends_) != 0) {
      throw_error("pipe");
    }
  }
  ~Voice() {
    ::close(ends_[0]);
    close_inner();
  }
  Voice(const Voice&) = delete;
  Voice& operator=(const Voice&) = delete;

  void become_standard_error() {
    ::dup2(ends_[1], STDERR_FILENO);
    ::close(ends_[0]);
    close_inner();
  }
  void close_inner() noexcept {
    if (ends_[1] >= 0) {
      ::close(std::exchange(ends_[1], -1));
    }
  }

  enum class Heard { something, nothing, end };

  /// Listens until something is said, or for `patience`.
  Heard listen(std::chrono::milliseconds patience) {
    pollfd descriptor{ends_[0], POLLIN, 0};
    const int ready = ::poll(&descriptor, 1, static_cast<int>(patience.count()));
    if (ready < 0 && errno != EINTR) {
      throw_error("poll");
    }
    if (ready <= 0) {
      return Heard::nothing;
    }
    char part[4096];
    const ssize_t length = ::read(ends_[0], part, sizeof part);
    if (length <= 0) {
      return Heard::end;
    }
    text_.append(part, static_cast<std::size_t>(length));
    return Heard::something;
  }

  /// The line that has `mark` in it, from there on; or none.
  std::string line_with(std::string_view mark) const {
    const std::size_t begin = text_.find(mark);
    const std::size_t end = begin == std::string::npos ? begin : text_.find('\n', begin);
    return end == std::string::npos ? "" : text_.substr(begin, end - begin);
  }
  std::string first_line() const { return text_.substr(0, text_.find('\n')); }

 private:
  int ends_[2] = {-1, -1};
  std::string text_;
};

/// The line by which sanitizers end a report.
constexpr std::string_view report_mark = "SUMMARY: ";

/// Follows a child to its end, or brings it about. True iff it is a hang.
bool follow(pid_t child, Voice& voice, const Board& board, std::chrono::seconds patience) {
  std::uint64_t rounds = board.rounds();
  for (;;) {
    switch (voice.listen(patience)) {
      case Voice::Heard::end:
        return false;
      case Voice::Heard::something:
        if (!voice.line_with(report_mark).empty()) {
          ::kill(child, SIGKILL);
          return false;
        }
        break;
      case Voice::Heard::nothing:
        if (std::exchange(rounds, board.rounds()) == board.rounds()) {
          ::kill(child, SIGKILL);
          return true;
        }
    }
  }
}

Ending ending_of(int status, bool is_hang, const Voice& voice, const Board& board) {
  const auto ending = [&](Ended ended, std::string text) {
    return Ending{ended, board.rounds(), std::move(text)};
  };
  if (std::string report = voice.line_with(report_mark); !report.empty()) {
    return ending(Ended::by_sanitizer, report.substr(report_mark.size()));
  }
  if (is_hang) {
    return ending(Ended::by_hang, "no round ended any more");
  }
  if (WIFSIGNALED(status)) {
    const std::string said = voice.first_line();
    return ending(Ended::by_crash, said.empty() ? ::strsignal(WTERMSIG(status)) : said);
  }
  const Ending said = board.ending();
  if (said.ended == Ended::in_peace && WEXITSTATUS(status) != 0) {
    return ending(Ended::by_error, "it ended with " + std::to_string(WEXITSTATUS(status)) + ", " +
                                       voice.first_line());
  }
  return said;
}

}  // namespace

void trespass(std::string_view step) noexcept {
  end_child(Ended::by_trespass, step);
}

Ending run_in_child(Race::Run run, const RaceSettings& settings, std::chrono::seconds patience) {
  Board& board = Board::share();
  Voice voice;
  std::fflush(nullptr);  // or the child would write it again
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    throw_error("fork");
  }
  if (child == 0) {
    end_with(parent);
    voice.become_standard_error();
    be_child(run, settings, board);
  }
  voice.close_inner();
  const bool is_hang = follow(child, voice, board, patience);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      throw_error("waitpid");
    }
  }
  const Ending ending = ending_of(status, is_hang, voice, board);
  board.unshare();
  if (ending.ended == Ended::by_error) {
    throw std::runtime_error("a planted bug could not be run: " + ending.text);
  }
  return ending;
}

std::string_view name_of(Ended ended) noexcept {
  switch (ended) {
    case Ended::in_peace:
      return "not found";
    case Ended::by_failure:
      return "wrong result";
    case Ended::by_trespass:
      return "use after release";
    case Ended::by_sanitizer:
      return "sanitizer's report";
    case Ended::by_crash:
      return "crash";
    case Ended::by_hang:
      return "hang";
    case Ended::by_error:
      return "error";
  }
  return "";
}

}  // namespace byre::stress::planted
