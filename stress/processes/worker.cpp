// SPDX-License-Identifier: BSL-1.0
#include "processes/worker.hpp"

#include <byre/observe/counters.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "processes/lock_faults.hpp"
#include "support/open_files.hpp"
#include "support/random.hpp"

namespace byre::stress::processes {
namespace {

constexpr std::size_t most_values = 6;
constexpr std::size_t most_exports = 2;

struct WeightedStep {
  Step step;
  unsigned weight;
};
constexpr WeightedStep steps[] = {{Step::allocate_paged, 6}, {Step::allocate_ordinary, 4},
                                  {Step::clone, 10},         {Step::write, 24},
                                  {Step::send, 14},          {Step::send_packet, 6},
                                  {Step::receive, 20},       {Step::keep_export, 4},
                                  {Step::import_kept, 6},    {Step::drop, 8},
                                  {Step::collect, 5},        {Step::fork, 3},
                                  {Step::exec, 1},           {Step::exit, 1}};

struct KeptExport {
  ExportedPages exported;
  Contents contents;
  Kind kind;
};

/// An error of the library or the system that the worker found.
struct Failure : std::runtime_error {
  using runtime_error::runtime_error;
};

class Worker {
 public:
  Worker(const Channels& channels, const WorkerSettings& settings)
      : channels_(channels), settings_(settings), random_(settings.seed ^ settings.number) {}

  [[noreturn]] void run() {
    expect_nothing_inherited();
    Step done = settings_.done;
    while (!has_ended(channels_.stop)) {
      const Step step = random_.one_by_weight(steps).step;
      begin(step, done);
      done = perform(step) ? step : Step::none;
      if (!values_.empty()) {
        expect_whole(random_.one_of(values_));
      }
    }
    begin(Step::verify_all, done);
    survive();
    begin(Step::none, Step::verify_last);
    ::_exit(EXIT_SUCCESS);
  }

  [[noreturn]] void fail(const char* found) const noexcept {
    std::fprintf(stderr, "byre-kills: FAILED: worker %016jx, process %d, in step %s: %s\n",
                 std::uintmax_t{settings_.number}, static_cast<int>(::getpid()), name_of(step_),
                 found);
    ::_exit(found_an_error);
  }

 private:
  static bool has_ended(int pipe) {
    ::pollfd end{pipe, POLLIN, 0};
    return ::poll(&end, 1, 0) > 0;
  }

  void begin(Step step, Step done) noexcept {
    step_ = step;
    channels_.tell({.process = ::getpid(), .step = step, .done = done});
  }

  // ---- Checks

  static void expect_equal(const char* what, std::int64_t actual, std::int64_t expected) {
    if (actual != expected) {
      std::ostringstream text;
      text << what << ": " << actual << ", expected " << expected;
      throw Failure(text.str());
    }
  }

  void expect_nothing_inherited() const {
    expect_equal("descriptors of a fresh program", as_signed(test::open_files().size()),
                 as_signed(channels_.descriptor_count));
  }

  static std::int64_t as_signed(std::size_t count) { return static_cast<std::int64_t>(count); }

  static void expect_whole(const Value& value) {
    const std::string difference = value.difference();
    if (!difference.empty()) {
      throw Failure((value.is_imported() ? "an import: " : "a value: ") + difference);
    }
  }

  // ---- Steps. Each returns whether it had an effect.

  bool perform(Step step) {
    switch (step) {
      case Step::allocate_paged:
        return add(Value(any_kind(), size_in_pages(), paged_allocator(), random_));
      case Step::allocate_ordinary:
        return add(
            Value(any_kind(), random_.number<std::size_t>(1, 48), default_allocator(), random_));
      case Step::clone:
        return !values_.empty() && add(any_value().lazy_clone());
      case Step::write:
        return write();
      case Step::send:
        return send();
      case Step::send_packet:
        return send_packet();
      case Step::receive:
        return add(receive_value(any_mailbox()));
      case Step::keep_export:
        return keep_export();
      case Step::import_kept:
        return import_kept();
      case Step::drop:
        return drop();
      case Step::collect:
        return byre::collect().ended != 0;
      case Step::fork:
        return fork();
      case Step::exec:
        exec();
      case Step::exit:
        ::_exit(EXIT_SUCCESS);
      case Step::verify_all:
      case Step::verify_last:
      case Step::none:
        break;
    }
    return false;
  }

  Kind any_kind() {
    return random_.one_of({Kind::buffer, Kind::buffer, Kind::storage, Kind::tiles});
  }
  std::size_t size_in_pages() {
    constexpr std::size_t least = least_paged_nbytes / 4096;
    return random_.chance(90) ? least + random_.below(least / 4)
                              : random_.number(2 * least, 8 * least);
  }
  Value& any_value() { return random_.one_of(values_); }
  int any_mailbox() { return random_.one_of(random_.one_of(channels_.mailboxes)); }

  bool add(std::optional<Value> value) {
    if (!value) {
      return false;
    }
    expect_whole(*value);
    if (values_.size() < most_values) {
      values_.push_back(std::move(*value));
    } else {
      any_value() = std::move(*value);
    }
    return true;
  }

  bool write() {
    if (values_.empty()) {
      return false;
    }
    Value& value = any_value();
    if (settings_.fault == Fault::written_view && value.origin() == Origin::paged &&
        !value.is_imported()) {
      value.write_behind(random_);
      return true;
    }
    // More than an eighth of the pages is copied in another way than a few pages.
    value.write(random_.chance(92) ? random_.number<std::size_t>(1, 4) : value.page_count() / 2,
                random_);
    expect_whole(value);
    return true;
  }

  bool send() { return !values_.empty() && send_by_socket(any_mailbox(), any_value()); }
  bool send_packet() {
    return !values_.empty() && processes::send_packet(any_mailbox(), any_value());
  }

  bool keep_export() {
    if (values_.empty()) {
      return false;
    }
    const Value& value = any_value();
    KeptExport kept{value.exported(), value.contents(), value.kind()};
    if (exports_.size() < most_exports) {
      exports_.push_back(std::move(kept));
    } else {
      random_.one_of(exports_) = std::move(kept);
    }
    return true;
  }

  bool import_kept() {
    if (exports_.empty()) {
      return false;
    }
    const KeptExport& kept = random_.one_of(exports_);
    return add(
        Value(Value::imported(kept.kind, kept.exported.message(), kept.exported.descriptors()),
              kept.contents));
  }

  bool drop() {
    if (!exports_.empty() && random_.chance(30)) {
      return take_out(exports_);
    }
    return !values_.empty() && take_out(values_);
  }
  template <class Elements>
  bool take_out(Elements& elements) {
    std::swap(random_.one_of(elements), elements.back());
    elements.pop_back();
    return true;
  }

  /// Makes a worker with clones of all values. The process between them ends, so that the new
  /// worker becomes a child of the supervisor.
  bool fork() {
    char permit = 0;
    if (::read(channels_.permits, &permit, 1) != 1) {
      return false;
    }
    const std::uint64_t number = random_.engine()();
    const pid_t between = ::fork();
    if (between == 0) {
      channels_.tell({.process = ::getpid(), .kind = Record::Kind::between});
      const pid_t child = ::fork();
      if (child != 0) {
        if (child > 0) {
          channels_.tell({.process = child, .kind = Record::Kind::started});
        }
        ::_exit(EXIT_SUCCESS);
      }
      settings_.number = number;
      random_ = test::Random(settings_.seed ^ number);
      return false;
    }
    int status = 0;
    while (::waitpid(between, &status, 0) < 0 && errno == EINTR) {
    }
    return between > 0 && status == 0;
  }

  /// Starts this program anew, in this process.
  [[noreturn]] void exec() {
    settings_.number = random_.engine()();
    settings_.done = Step::exec;
    if (settings_.fault == Fault::kept_by_exec) {
      inheritable(::dup(channels_.records));
    }
    const std::string channels = channels_.text();
    const std::string settings = settings_.text();
    ::execl("/proc/self/exe", "byre-kills", "--worker", channels.c_str(), "--worker",
            settings.c_str(), nullptr);
    throw Failure(std::string("execl: ") + std::strerror(errno));
  }

  // ---- The end of a survivor

  void survive() {
    std::ranges::for_each(values_, expect_whole);
    exports_.clear();
    std::erase_if(values_, [](const Value& value) { return value.is_imported(); });
    send_last_values();
    channels_.close_mailboxes();
    begin(Step::verify_last, Step::verify_all);
    ::pollfd end{channels_.finish, POLLIN, 0};
    while (::poll(&end, 1, -1) < 0 && errno == EINTR) {
    }
    // No other process has data of this one now.
    expect_equal("views after all other processes have ended", as_signed(byre::collect().remaining),
                 0);
    expect_writes_in_place();
    expect_nothing_kept();
  }

  /// Sends data of this process to the supervisor, so that each survivor has a view that ends, and
  /// data that only a view keeps.
  void send_last_values() {
    values_.emplace_back(Kind::buffer, size_in_pages(), paged_allocator(), random_);
    send_to_supervisor(values_.back());
    send_to_supervisor(Value(Kind::buffer, size_in_pages(), paged_allocator(), random_));
  }

  void send_to_supervisor(const Value& value) {
    const int mailbox = channels_.mailboxes[0][1];
    while (!send_by_socket(mailbox, value)) {
      // Also returns if the supervisor has ended; then begin() ends the process.
      ::pollfd room[] = {{mailbox, POLLOUT, 0}, {channels_.records, 0, 0}};
      ::poll(room, std::size(room), -1);
      begin(Step::verify_all, Step::none);
    }
  }

  void expect_writes_in_place() {
    std::vector<Value> kept;
    for (Value& value : values_) {
      const auto is_clone = [&](const Value& other) { return other.shares_data_with(value); };
      if (std::ranges::none_of(kept, is_clone)) {
        kept.push_back(std::move(value));
      }
    }
    values_.clear();
    // Overlays of this process are copiers of the data beneath. They end first.
    std::stable_partition(kept.begin(), kept.end(),
                          [](const Value& value) { return value.origin() != Origin::overlay; });
    for (; !kept.empty(); kept.pop_back()) {
      const auto result = kept.back().materialize();
      if (result && *result != Materialized::already_unique && *result != Materialized::stole) {
        throw Failure("a write to the last owner's data was not in place");
      }
      kept.back().write(3, random_);
      expect_whole(kept.back());
    }
  }

  void expect_nothing_kept() {
    const std::optional<Value> kept =
        settings_.fault == Fault::kept_value
            ? std::optional(Value(Kind::buffer, size_in_pages(), paged_allocator(), random_))
            : std::nullopt;
    const ExportedViews views = byre::collect();
    expect_equal("exported data after all data was dropped",
                 as_signed(views.ended + views.remaining), 0);
    expect_equal("stats::Counters::live_bytes", stats::snapshot().live_bytes, 0);
    expect_equal("mapped memory files", as_signed(test::count_mappings(test::is_memory_file)), 0);
    expect_equal("descriptors", as_signed(test::open_files().size() + 2 * Channels::mailbox_count),
                 as_signed(channels_.descriptor_count));
  }

  Channels channels_;
  WorkerSettings settings_;
  test::Random random_;
  Step step_ = Step::none;
  std::vector<Value> values_;
  std::vector<KeptExport> exports_;
};

}  // namespace

std::string WorkerSettings::text() const {
  std::ostringstream text;
  text << seed << ' ' << number << ' ' << static_cast<unsigned>(fault) << ' '
       << static_cast<unsigned>(done);
  return text.str();
}

WorkerSettings WorkerSettings::from(const std::string& text) {
  std::istringstream from(text);
  WorkerSettings settings;
  unsigned fault = 0;
  unsigned done = 0;
  from >> settings.seed >> settings.number >> fault >> done;
  settings.fault = static_cast<Fault>(fault);
  settings.done = static_cast<Step>(done);
  return settings;
}

void work(const Channels& channels, const WorkerSettings& settings) noexcept {
  set_fault_of_locks(settings.fault);
  ::sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);  // the supervisor's mask
  Worker worker(channels, settings);
  try {
    worker.run();
  } catch (const std::exception& error) {
    worker.fail(error.what());
  }
}

}  // namespace byre::stress::processes
