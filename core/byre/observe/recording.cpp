// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/files/output_file.hpp>
#include <byre/observe/detail/records.hpp>
#include <byre/observe/recording.hpp>

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

namespace byre::inline BYRE_ABI::trace {

struct Recording::State {
  explicit State(std::size_t limit_nbytes) {
    recording.records.reserve(
        std::min(limit_nbytes / sizeof(stats::detail::Record), recording.records.max_size()));
    stats::detail::begin_recording(recording);
  }
  ~State() {
    if (!is_stopped) {
      stats::detail::end_recording(recording);
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  stats::detail::Records records() const {
    if (is_stopped) {
      return recording;
    }
    return stats::detail::records_of(recording);
  }

  stats::detail::ActiveRecording recording;  // used by the log until the recording is stopped
  bool is_stopped = false;
};

Recording::Recording(std::size_t limit_nbytes) try {
  if (!BYRE_STATS) {
    throw InvalidArgument(
        format_text("cannot record: byre was built without stats. Configure it with "
                    "-Dstats=enabled."));
  }
  state_ = std::make_unique<State>(limit_nbytes);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("a recording");
}

Recording::~Recording() = default;

void Recording::stop() try {
  if (!state_->is_stopped) {
    stats::detail::Records records = state_->records();
    stats::detail::end_recording(state_->recording);
    static_cast<stats::detail::Records&>(state_->recording) = std::move(records);
    state_->is_stopped = true;
  }
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("the records of a recording");
}

std::string Recording::to_json() const try {
  return detail::chrome_trace(state_->records());
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

std::uint64_t Recording::lost() const noexcept {
  return stats::detail::lost_by(state_->recording);
}

}  // namespace byre::inline BYRE_ABI::trace
