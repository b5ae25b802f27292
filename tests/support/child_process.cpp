// SPDX-License-Identifier: BSL-1.0
#include "child_process.hpp"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <list>
#include <system_error>
#include <vector>

namespace byre::test {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void throw_error(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

/// Returns false after a timeout, or if a signal interrupted it.
bool poll_for(std::vector<pollfd>& outputs, std::chrono::milliseconds patience) {
  const auto count = ::poll(outputs.data(), outputs.size(), static_cast<int>(patience.count()));
  if (count < 0 && errno != EINTR) {
    throw_error("poll");
  }
  return count > 0;
}

[[noreturn]] void be_child(const ChildWork& work, pid_t parent, int output) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(EXIT_FAILURE);  // the parent ended before prctl() took effect
  }
  try {
    work(output);
  } catch (const std::exception& error) {
    write_all(output, std::string(error.what()) + '\n');
    ::_exit(EXIT_FAILURE);
  }
  std::fflush(nullptr);
  ::_exit(EXIT_SUCCESS);
}

struct Running {
  Running(std::size_t its_number, const ChildPool& pool)
      : number(its_number),
        process([&](int output) { pool.work(its_number, output); }),
        end(Clock::now() + pool.patience(its_number)) {}

  std::size_t number;
  ChildProcess process;
  Clock::time_point end;
};

/// The time until the next child is overdue, at least a millisecond.
std::chrono::milliseconds time_left(const std::list<Running>& running) {
  const auto left = std::ranges::min_element(running, {}, &Running::end)->end - Clock::now();
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds(1));
}

/// Passes the output of the child to the callbacks, and kills an overdue child. Returns true if the
/// child has ended.
bool has_ended(Running& child, const ChildPool& pool) {
  const auto heard = child.process.listen(std::chrono::milliseconds(0));
  while (const auto line = child.process.take_line()) {
    pool.line(child.number, *line);
  }
  if (heard == ChildProcess::Heard::end) {
    pool.ended(child.number, child.process.wait());
    return true;
  }
  if (Clock::now() >= child.end) {
    child.process.kill();
  }
  return false;
}

}  // namespace

std::optional<int> Exit::code() const noexcept {
  return WIFEXITED(status_) ? std::optional(WEXITSTATUS(status_)) : std::nullopt;
}

std::optional<int> Exit::signal() const noexcept {
  return WIFSIGNALED(status_) ? std::optional(WTERMSIG(status_)) : std::nullopt;
}

std::string Exit::text() const {
  const auto by = signal();
  return was_killed_ ? "killed"
         : by        ? "signal " + std::to_string(*by) + " (" + ::strsignal(*by) + ")"
                     : "exit status " + std::to_string(code().value_or(-1));
}

void redirect(int from, int output) noexcept {
  ::dup2(output, from);
}

void write_all(int output, const std::string& text) noexcept {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(output, text.data() + done, text.size() - done);
    if (written <= 0 && errno != EINTR) {
      ::_exit(EXIT_FAILURE);
    }
    done += written > 0 ? static_cast<std::size_t>(written) : 0;
  }
}

ChildProcess::ChildProcess(const ChildWork& work) {
  int ends[2];
  if (::pipe(ends) != 0) {
    throw_error("pipe");
  }
  std::fflush(nullptr);  // otherwise the child would write buffered output again
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ == 0) {
    ::close(ends[0]);
    be_child(work, parent, ends[1]);
  }
  ::close(ends[1]);
  output_ = ends[0];
  if (process_ < 0) {
    ::close(output_);
    throw_error("fork");
  }
}

ChildProcess::~ChildProcess() {
  if (process_ > 0) {
    kill();
    wait();
  }
  ::close(output_);
}

ChildProcess::Heard ChildProcess::listen(std::chrono::milliseconds patience) {
  std::vector<pollfd> outputs{{output_, POLLIN, 0}};
  if (!poll_for(outputs, patience)) {
    return Heard::nothing;
  }
  char part[4096];
  const ssize_t length = ::read(output_, part, sizeof part);
  if (length <= 0) {
    return Heard::end;
  }
  text_.append(part, static_cast<std::size_t>(length));
  return Heard::something;
}

std::optional<std::string> ChildProcess::take_line() {
  const std::size_t end = text_.find('\n');
  if (end == std::string::npos) {
    return std::nullopt;
  }
  std::string line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

void ChildProcess::kill() noexcept {
  ::kill(process_, SIGKILL);
  was_killed_ = true;
}

Exit ChildProcess::wait() noexcept {
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return Exit(status, was_killed_);
}

ChildResult run_in_child(const ChildWork& work, std::chrono::milliseconds patience) {
  ChildProcess child(work);
  for (;;) {
    switch (child.listen(patience)) {
      case ChildProcess::Heard::something:
        continue;
      case ChildProcess::Heard::nothing:
        child.kill();
        [[fallthrough]];
      case ChildProcess::Heard::end:
        const Exit exit = child.wait();
        return {exit, child.text()};
    }
  }
}

void run_in_children(std::size_t count, unsigned at_once, const ChildPool& pool) {
  std::list<Running> running;
  for (std::size_t next = 0; next < count || !running.empty();) {
    for (; next < count && running.size() < at_once; ++next) {
      running.emplace_back(next, pool);
    }
    std::vector<pollfd> outputs;
    for (const Running& child : running) {
      outputs.push_back({child.process.output(), POLLIN, 0});
    }
    poll_for(outputs, time_left(running));
    std::erase_if(running, [&](Running& child) { return has_ended(child, pool); });
  }
}

}  // namespace byre::test
