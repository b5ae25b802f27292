// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/error/detail/quoted_text.hpp>
#include <byre/error/error.hpp>
#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>
#include <byre/observe/expect.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <array>
#include <exception>
#include <iterator>
#include <list>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::stats {

constinit detail::RelaxedFlag detail::sink_flag;

namespace {

constinit thread_local bool inside_a_sink = false;

/// The installed sinks. There are two locks, and both are held while the list changes. Sinks are
/// called under `in_use`; a fork does not wait for this lock. A fork waits for `changing_`, which
/// is held only while the list changes.
class Sinks final : sync::detail::ProcessState {
 public:
  Sinks() { enter(); }

  sync::Default::SharedMutex in_use;
  std::list<CopySink> list;

  /// Moves a sink from `from` to `to`. One of the two is the list of installed sinks.
  void move(std::list<CopySink>& to, std::list<CopySink>& from,
            std::list<CopySink>::iterator sink) {
    const sync::ExclusiveLock lock(in_use);
    const sync::ProcessLock changing(changing_);
    to.splice(to.end(), from, sink);
    detail::sink_flag.set(!list.empty());
  }

 private:
  void in_child() noexcept override {
    in_use.renew();
    if (inside_a_sink) {
      in_use.lock_shared();
    }
  }

  sync::ProcessMutex changing_;
};

void refuse_inside_a_sink() noexcept {
  BYRE_ASSERT(
      !inside_a_sink,
      "cannot install or uninstall a copy sink inside a copy sink: the sink would wait for itself");
}

Sinks& sinks() noexcept {
  return sync::no_destructor<Sinks>();
}

}  // namespace

const char* to_string(CopyCause cause) noexcept {
  constexpr const char* names[] = {"shared", "pending",  "read_only", "borrowed",
                                   "pinned", "writable", "resized",   "exported"};
  const auto index = static_cast<std::size_t>(cause);
  return index < std::size(names) ? names[index] : "?";
}

InstalledSink::InstalledSink(CopySink sink) try {
  refuse_inside_a_sink();
  node_.push_back(std::move(sink));
  place_ = node_.begin();
  sinks().move(sinks().list, node_, place_);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("a copy sink");
}

InstalledSink::~InstalledSink() {
  refuse_inside_a_sink();
  sinks().move(node_, sinks().list, place_);
}

void detail::call_sinks(const CopyEvent& event) noexcept {
  if (inside_a_sink) {
    return;
  }
  inside_a_sink = true;
  {
    const sync::SharedLock lock(sinks().in_use);
    for (const CopySink& sink : sinks().list) {
      try {
        sink(event);
      } catch (const std::exception& error) {
        warn("a copy sink threw: %s. The reported copy is complete.",
             byre::detail::without_full_stop(error.what()).chars.data());
      } catch (...) {
        warn("a copy sink threw an unknown exception. The reported copy is complete.");
      }
    }
  }
  inside_a_sink = false;
}

/// The number of copies, and a line of text for each of the first four.
struct CopyLimit::Copies {
  /// Formats the call site immediately, because the caller may destroy the name of the file.
  void record(const CopyEvent& event) {
    const Text line = format_text("\n  %s:%u: %zu bytes (%s)", event.site.file, event.site.line,
                                  event.nbytes, to_string(event.cause));
    const sync::ProcessLock lock(mutex);
    ++count;
    if (count <= listed.size()) {
      listed[count - 1] = line;
    }
  }

  sync::ProcessMutex mutex;
  std::size_t count = 0;
  std::array<Text, 4> listed{};
};

CopyLimit::CopyLimit(std::size_t most, CallSite site) try
    : most_(most),
      site_(site),
      copies_(std::make_unique<Copies>()),
      sink_([copies = copies_.get()](const CopyEvent& event) { copies->record(event); }) {
  if (!BYRE_STATS) {
    throw InvalidArgument(
        format_text("%s:%u: cannot count copies: byre was built without stats. Configure it with "
                    "-Dstats=enabled.",
                    site.file, site.line));
  }
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("a limit of copies");
}

CopyLimit::~CopyLimit() = default;

std::size_t CopyLimit::copies() const {
  const sync::ProcessLock lock(copies_->mutex);
  return copies_->count;
}

void CopyLimit::expect_kept() const {
  const std::size_t made = copies();  // later copies do not change the listed lines
  if (made <= most_) {
    return;
  }
  const auto& [first, second, third, fourth] = copies_->listed;  // empty if fewer copies were made
  throw TooManyCopies(format_text(
      "%s:%u: expected at most %zu copies, but %zu were made:%s%s%s%s%s\n"
      "Read through data() instead of mutable_data(), or drop the clones before writing.",
      site_.file, site_.line, most_, made, first.chars.data(), second.chars.data(),
      third.chars.data(), fourth.chars.data(), made > copies_->listed.size() ? "\n  ..." : ""));
}

}  // namespace byre::inline BYRE_ABI::stats
