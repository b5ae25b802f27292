// SPDX-License-Identifier: BSL-1.0
#include "pool.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

namespace byre::verification {
namespace {

struct Worker {
  std::size_t number;
  pid_t process;
  int input;
  std::string unread = {};
};

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written <= 0) {
      _exit(4);
    }
    done += static_cast<std::size_t>(written);
  }
}

Worker start(std::size_t number, const Pool& pool) {
  int ends[2];
  std::fflush(nullptr);
  if (pipe(ends) != 0) {
    throw std::runtime_error("no pipe for a search");
  }
  const pid_t process = fork();
  if (process < 0) {
    throw std::runtime_error("no process for a search");
  }
  if (process == 0) {
    close(ends[0]);
    alarm(pool.most_seconds(number));
    pool.work(number, [&](const std::string& line) { write_all(ends[1], line + '\n'); });
    _exit(0);
  }
  close(ends[1]);
  return {number, process, ends[0]};
}

/// False at the end.
bool take_input(Worker& worker, const Pool& pool) {
  char buffer[4096];
  const ssize_t size = read(worker.input, buffer, sizeof buffer);
  if (size <= 0) {
    return false;
  }
  worker.unread.append(buffer, static_cast<std::size_t>(size));
  std::size_t begin = 0;
  for (std::size_t end; (end = worker.unread.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    pool.line(worker.number, worker.unread.substr(begin, end - begin));
  }
  worker.unread.erase(0, begin);
  return true;
}

void finish(const Worker& worker, const Pool& pool) {
  close(worker.input);
  int status = 0;
  waitpid(worker.process, &status, 0);
  pool.ended(worker.number, status);
}

}  // namespace

bool ended_well(int status) noexcept {
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void run_apart(std::size_t count, unsigned at_once, const Pool& pool) {
  std::vector<Worker> workers;
  for (std::size_t next = 0; next < count || !workers.empty();) {
    for (; next < count && workers.size() < at_once; ++next) {
      workers.push_back(start(next, pool));
    }
    std::vector<pollfd> inputs;
    for (const Worker& worker : workers) {
      inputs.push_back({worker.input, POLLIN, 0});
    }
    poll(inputs.data(), inputs.size(), -1);
    for (std::size_t i = inputs.size(); i-- > 0;) {
      if (inputs[i].revents != 0 && !take_input(workers[i], pool)) {
        finish(workers[i], pool);
        workers.erase(workers.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
}

}  // namespace byre::verification
