// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/stats/counters.hpp>
#include <byre/stats/detail/records.hpp>
#include <byre/storage/output_file.hpp>
#include <byre/trace/detail/shown.hpp>
#include <byre/trace/recording.hpp>

#include <new>
#include <optional>
#include <string_view>

namespace byre::inline v0::trace {

struct Recording::State {
  explicit State(std::size_t limit) noexcept
      : limit_nbytes(limit), before(stats::snapshot()), begin_ns(stats::detail::now_ns()) {
    stats::detail::begin_recording(limit_nbytes);
  }
  ~State() {
    if (!stopped) {
      stats::detail::end_recording(limit_nbytes);
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  stats::detail::Records records() const {
    return stopped ? *stopped : stats::detail::records_since(begin_ns);
  }

  const std::size_t limit_nbytes;
  const stats::Counters before;
  const std::int64_t begin_ns;
  std::optional<stats::detail::Records> stopped;
};

Recording::Recording(std::size_t limit_nbytes) try {
  if (!BYRE_STATS) {
    throw InvalidArgument(
        format_text("a recording was asked for, and this byre was built without stats and does not "
                    "know what happens. Configure it with -Dstats=enabled."));
  }
  state_ = std::make_unique<State>(limit_nbytes);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("a recording");
}

Recording::~Recording() = default;

void Recording::stop() {
  if (!state_->stopped) {
    state_->stopped = stats::detail::records_since(state_->begin_ns);
    stats::detail::end_recording(state_->limit_nbytes);
  }
}

std::string Recording::to_json() const try {
  return detail::chrome_trace(state_->records(), state_->before, state_->begin_ns);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("a trace");
}

std::string Recording::summary() const try {
  return detail::summary_of(state_->records());
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("the summary of a trace");
}

void Recording::write(FileName name) const {
  const std::string text = std::string_view(name.c_str()).ends_with(".txt") ? summary() : to_json();
  OutputFile file(name);
  file.write(text.data(), text.size());
  file.commit();
}

std::uint64_t Recording::lost() const {
  return state_->records().lost;
}

}  // namespace byre::inline v0::trace
