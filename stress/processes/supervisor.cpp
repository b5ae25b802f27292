// SPDX-License-Identifier: BSL-1.0
#include "processes/supervisor.hpp"

#include <byre/pages/paged_allocator.hpp>
#include <byre/system/detail/memory_files.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "support/open_files.hpp"
#include "support/random.hpp"

namespace byre::stress::processes {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds patience{120};
/// For the memory of the system itself. Each memory file of a worker is larger.
constexpr std::int64_t most_shared_growth_nbytes = least_paged_nbytes - 1;

int checked(int result, const char* call) {
  if (result < 0) {
    throw std::system_error(errno, std::generic_category(), call);
  }
  return result;
}

std::int64_t shared_memory_nbytes() {
  std::ifstream info("/proc/meminfo");
  for (std::string name; info >> name;) {
    if (name == "Shmem:") {
      std::int64_t kibibytes = 0;
      info >> kibibytes;
      return kibibytes << 10;
    }
  }
  throw std::runtime_error("/proc/meminfo lacks the size of shared memory");
}

/// A pause that moves the next kill to a random point within the steps of the workers. Nothing
/// depends on its length.
void pause(std::chrono::nanoseconds length) noexcept {
  const std::timespec time{0, length.count()};
  ::nanosleep(&time, nullptr);
}

/// Within wait_for_input() only, the end of a child interrupts the supervisor.
void interrupt_at_ends_of_children() {
  struct ::sigaction action {};
  action.sa_handler = [](int) {};
  checked(::sigaction(SIGCHLD, &action, nullptr), "sigaction");
  ::sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  checked(::sigprocmask(SIG_BLOCK, &child, nullptr), "sigprocmask");
}

class Supervisor {
 public:
  explicit Supervisor(const RunSettings& settings) : settings_(settings), random_(settings.seed) {
    checked(::prctl(PR_SET_CHILD_SUBREAPER, 1), "prctl");
    interrupt_at_ends_of_children();
    for (const system::Pipe* const pipe : {&permits_, &records_}) {
      checked(::fcntl(pipe->reads.number(), F_SETFL, O_NONBLOCK), "fcntl");
    }
    for (Mailbox& mailbox : channels_.mailboxes) {
      checked(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, mailbox.data()),
              "socketpair");
      mailboxes_.emplace_back(mailbox[0]);
      mailboxes_.emplace_back(mailbox[1]);
    }
    channels_.permits = inheritable(permits_.reads.number());
    channels_.records = inheritable(records_.writes.number());
    channels_.stop = inheritable(stop_.reads.number());
    channels_.finish = inheritable(finish_.reads.number());
    channels_.descriptor_count = test::open_files().size() - supervisor_ends;
  }

  void kill_workers() {
    while (figures_.kills < settings_.kills) {
      while (living() < settings_.workers) {
        start_worker();
      }
      permit_forks();
      hear_records(random_.number(1U, 16U));
      if (random_.flag()) {
        pause(std::chrono::microseconds(random_.below(200)));
      }
      reap();
      if (living() != 0) {
        kill_worker();
      }
    }
  }

  /// Has the workers check their values, and that nothing is left of other processes.
  void finish() {
    stop_.writes.close();
    const std::vector<system::Descriptor> kept = read_last_values();
    // No process has mailbox 0 any more: survivors have closed it, and other processes have begun
    // to end. Survivors may still close mailboxes with messages. The memory of an ending process
    // can last until its parent has waited for it.
    hear_records(0);
    for (const pid_t process : std::set<pid_t>(between_)) {
      wait_for(process);
    }
    for (const auto& [process, state] : std::map<pid_t, Process>(processes_)) {
      if (state.was_killed) {
        wait_for(process);
      }
    }
    const auto is_ready = [](const auto& each) { return each.second.step == Step::verify_last; };
    while (!std::ranges::all_of(processes_, is_ready)) {
      hear_records(1);
    }
    figures_.survivors = living();
    finish_.writes.close();
    while (!processes_.empty()) {
      wait_for(processes_.begin()->first);
    }
    leave_something();
    if (::waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD) {
      throw std::runtime_error("a child process is left after all workers have ended");
    }
    hear_records(0);
  }

  /// After an error: ends all processes.
  void end_all() noexcept {
    is_over_ = true;
    records_.writes.close();
    do {
      for (const auto& [process, state] : processes_) {
        ::kill(process, SIGKILL);
      }
    } while (hear_records(1));  // up to the end of the last process that has the pipe
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
  }

  const RunFigures& figures() const noexcept { return figures_; }

 private:
  /// The ends of the four pipes that workers do not have.
  static constexpr std::size_t supervisor_ends = 4;

  /// A worker. Its number belongs to it until wait_for().
  struct Process {
    Step step = Step::none;
    bool was_killed = false;
  };

  // ---- Workers

  std::size_t living() const noexcept { return processes_.size() - dying_; }

  void start_worker() {
    const WorkerSettings worker{settings_.seed, random_.engine()(), settings_.fault};
    const pid_t process = checked(::fork(), "fork");
    if (process == 0) {
      permits_.writes.close();
      records_.reads.close();
      stop_.writes.close();
      finish_.writes.close();
      work(channels_, worker);
    }
    has_started(process);
  }

  /// Lets workers start others, up to about twice their usual number. Without a limit, their number
  /// would grow exponentially while the supervisor does not get to run.
  void permit_forks() {
    int permitted = 0;
    checked(::ioctl(permits_.reads.number(), FIONREAD, &permitted), "ioctl");
    std::size_t most = living() + static_cast<std::size_t>(permitted);
    for (; most < 2 * settings_.workers; ++most) {
      checked(static_cast<int>(::write(permits_.writes.number(), "", 1)), "write");
    }
  }

  void has_started(pid_t process) {
    between_.erase(process);
    Process& started = processes_[process];
    if (const auto early = early_steps_.extract(process)) {
      started.step = early.mapped();
    }
    ++figures_.processes;
    figures_.most_at_once = std::max<std::uint64_t>(figures_.most_at_once, living());
  }

  void kill_worker() {
    auto chosen = processes_.begin();
    do {
      chosen = processes_.begin();
      std::advance(chosen, static_cast<std::ptrdiff_t>(random_.below(processes_.size())));
    } while (chosen->second.was_killed);
    checked(::kill(chosen->first, SIGKILL), "kill");
    chosen->second.was_killed = true;
    ++dying_;
  }

  /// Waits for all children that have ended.
  void reap() {
    for (;;) {
      ::siginfo_t ended{};
      if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) {
        return;
      }
      // The last records of the process are in the pipe. If they were read later, they could be
      // taken for those of another process that has its number by then.
      hear_records(0);
      wait_for(ended.si_pid);
    }
  }

  void wait_for(pid_t process) {
    int status = 0;
    pid_t waited = -1;
    while ((waited = ::waitpid(process, &status, 0)) < 0 && errno == EINTR) {
    }
    between_.erase(process);
    const auto found = processes_.find(process);
    const Process ended = found == processes_.end() ? Process{} : found->second;
    if (found != processes_.end()) {
      processes_.erase(found);
    }
    dying_ -= ended.was_killed ? 1 : 0;
    if (waited != process || is_over_) {
      return;  // if its parent is another worker, that one has waited for it
    }
    const bool died_by_kill = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (ended.was_killed && died_by_kill) {
      ++figures_.killed_in[static_cast<std::size_t>(ended.step)];
      ++figures_.kills;
      print_progress();
    } else if (ended.step == Step::exit) {
      ++figures_.done[static_cast<std::size_t>(ended.step)];
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == found_an_error) {
      throw std::runtime_error("a worker found an error, which it printed");
    }
    if (!(ended.was_killed && died_by_kill) && status != 0) {
      throw std::runtime_error(
          "process " + std::to_string(process) + " ended in step " + name_of(ended.step) +
          (WIFEXITED(status) ? " with status " + std::to_string(WEXITSTATUS(status))
                             : " by signal " + std::to_string(WTERMSIG(status))));
    }
  }

  // ---- Records

  /// Reads at least `least` records if any worker lives, and all that are in the pipe. Returns
  /// false at the end of the pipe.
  bool hear_records(std::size_t least) {
    for (std::size_t heard = 0;;) {
      Record records[64];
      const ssize_t nbytes = ::read(records_.reads.number(), records, sizeof records);
      if (nbytes == 0) {
        return false;
      }
      if (nbytes > 0) {
        const std::size_t count = static_cast<std::size_t>(nbytes) / sizeof(Record);
        std::for_each_n(records, count, [this](const Record& record) { hear(record); });
        heard += count;
      } else if (errno != EAGAIN) {
        checked(-1, "read");
      } else if (heard >= least) {
        return true;
      } else {
        wait_for_input({{records_.reads.number(), POLLIN, 0}});
        if (living() == 0 && !is_over_) {
          return true;
        }
      }
    }
  }

  void hear(const Record& record) {
    switch (record.kind) {
      case Record::Kind::between:
        between_.insert(record.process);
        break;
      case Record::Kind::started:
        has_started(record.process);
        break;
      case Record::Kind::step:
        if (record.done != Step::none) {
          ++figures_.done[static_cast<std::size_t>(record.done)];
        }
        if (const auto process = processes_.find(record.process); process != processes_.end()) {
          process->second.step = record.step;
        } else {
          early_steps_[record.process] = record.step;
        }
        break;
    }
  }

  /// Waits for input, or for the end of a child.
  void wait_for_input(std::vector<::pollfd> inputs) {
    const std::timespec most{patience.count(), 0};
    ::sigset_t none;
    ::sigemptyset(&none);
    const int ready = ::ppoll(inputs.data(), inputs.size(), &most, &none);
    if (ready == 0) {
      throw std::runtime_error("no worker made a step for " + std::to_string(patience.count()) +
                               " seconds");
    }
    if (ready < 0) {
      reap();
    }
  }

  // ---- The end

  /// Receives what survivors send, until all processes have closed the mailboxes. Returns
  /// descriptors that the supervisor keeps.
  std::vector<system::Descriptor> read_last_values() {
    const system::Descriptor mailbox = std::move(mailboxes_[0]);
    mailboxes_.clear();
    std::vector<system::Descriptor> kept;
    for (;;) {
      Packet packet;
      system::Received received;
      const system::Transfer result = receive(mailbox.number(), packet, received);
      if (result == system::Transfer::failed && errno == EAGAIN) {
        hear_records(0);
        wait_for_input({{mailbox.number(), POLLIN, 0}, {records_.reads.number(), POLLIN, 0}});
        continue;
      }
      if (result != system::Transfer::done) {
        return kept;
      }
      std::ranges::move(received.descriptors, std::back_inserter(kept));
      if (settings_.fault != Fault::kept_descriptor) {
        kept.clear();
      }
    }
  }

  /// Makes the faults of the supervisor.
  void leave_something() {
    if (settings_.fault == Fault::left_process && checked(::fork(), "fork") == 0) {
      ::_exit(EXIT_SUCCESS);
    }
    if (settings_.fault == Fault::left_descriptor) {
      checked(::dup(STDERR_FILENO), "dup");
    }
    constexpr std::size_t nbytes = std::size_t{64} << 20;
    if (settings_.fault == Fault::left_mapping) {
      system::map_memory_file(system::create_memory_file(nbytes), 0, nbytes,
                              system::Writes::to_file, nullptr);
    }
    if (settings_.fault == Fault::left_memory) {
      void* const memory =
          ::mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      std::memset(memory, 1, nbytes);
    }
  }

  void print_progress() const {
    if (figures_.kills % std::max<std::uint64_t>(settings_.kills / 10, 1) == 0) {
      std::fprintf(stderr, "byre-kills: %ju of %ju kills, %ju processes, %.1f s\n",
                   std::uintmax_t{figures_.kills}, std::uintmax_t{settings_.kills},
                   std::uintmax_t{figures_.processes},
                   std::chrono::duration<double>(Clock::now() - begin_).count());
    }
  }

  const RunSettings settings_;
  test::Random random_;
  const Clock::time_point begin_ = Clock::now();
  system::Pipe permits_ = system::create_pipe();
  system::Pipe records_ = system::create_pipe();
  system::Pipe stop_ = system::create_pipe();
  system::Pipe finish_ = system::create_pipe();
  Channels channels_;
  std::vector<system::Descriptor> mailboxes_;
  std::map<pid_t, Process> processes_;
  std::size_t dying_ = 0;    ///< how many of them were killed
  std::set<pid_t> between_;  ///< that may be about to start a worker
  /// The steps of processes whose starter has not told of them yet.
  std::map<pid_t, Step> early_steps_;
  bool is_over_ = false;  ///< after an error
  RunFigures figures_;
};

/// The command that repeats the run.
std::string command_of(const RunSettings& settings) {
  std::string command = "byre-kills --seed " + std::to_string(settings.seed) + " --kills " +
                        std::to_string(settings.kills) + " --workers " +
                        std::to_string(settings.workers);
  if (settings.fault != Fault::none) {
    command += std::string(" --fault ") + fault_names[static_cast<std::size_t>(settings.fault)];
  }
  return command + (settings.is_alone ? " --alone" : "");
}

void expect_none_left(const char* what, std::size_t after, std::size_t before) {
  if (after != before) {
    throw std::runtime_error("the supervisor has " + std::to_string(after) + what +
                             ", before the run " + std::to_string(before));
  }
}

RunFigures complete_run(const RunSettings& settings) {
  const Clock::time_point begin = Clock::now();
  const std::int64_t shared_before = shared_memory_nbytes();
  const std::size_t descriptors_before = test::open_files().size();
  const std::size_t mappings_before = test::count_mappings(test::is_memory_file);
  RunFigures figures;
  {
    Supervisor supervisor(settings);
    try {
      supervisor.kill_workers();
      supervisor.finish();
    } catch (...) {
      supervisor.end_all();
      throw;
    }
    figures = supervisor.figures();
  }
  figures.seconds = Clock::now() - begin;
  figures.shared_growth_nbytes = shared_memory_nbytes() - shared_before;
  expect_none_left(" descriptors", test::open_files().size(), descriptors_before);
  expect_none_left(" mapped memory files", test::count_mappings(test::is_memory_file),
                   mappings_before);
  if (settings.is_alone && figures.shared_growth_nbytes > most_shared_growth_nbytes) {
    throw std::runtime_error("the shared memory of the machine has grown by " +
                             std::to_string(figures.shared_growth_nbytes) + " bytes, allowed " +
                             std::to_string(most_shared_growth_nbytes) +
                             ". Check whether other programs have taken it");
  }
  return figures;
}

}  // namespace

RunFigures run(const RunSettings& settings) {
  try {
    return complete_run(settings);
  } catch (...) {
    std::fprintf(stderr, "repeat: %s\n", command_of(settings).c_str());
    throw;
  }
}

}  // namespace byre::stress::processes
