// SPDX-License-Identifier: BSL-1.0
#include <byre/c/detail/calls.hpp>
#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>
#include <byre/observe/memory_report.hpp>
#include <byre/observe/recording.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

using namespace byre;
using namespace byre::detail::from_c;

struct byre_installed_sink {
  explicit byre_installed_sink(stats::CopySink sink) : installed(std::move(sink)) {}
  stats::InstalledSink installed;
};

struct byre_recording {
  explicit byre_recording(size_t limit_nbytes) : recording(limit_nbytes) {}
  trace::Recording recording;
};

namespace {

template <class Text>
byre_status store_text(const byre_recording* recording, char** text, const char* call,
                       Text make_text) noexcept {
  return guarded([&] {
    expect_given(recording, call, "recording");
    expect_given(text, call, "text");
    *text = copied_text(make_text(recording->recording));
  });
}

}  // namespace

byre_status byre_stats_snapshot(byre_stats* result) {
  return guarded([=] {
    expect_given(result, "byre_stats_snapshot", "result");
    constexpr std::size_t first_version = offsetof(byre_stats, pinned_bytes) + sizeof(std::int64_t);
    if (result->struct_nbytes < first_version) {
      throw InvalidArgument(
          format_text("byre_stats_snapshot: struct_nbytes is %zu, required at least %zu. Set it to "
                      "sizeof(byre_stats).",
                      result->struct_nbytes, first_version));
    }
    const stats::Counters now = stats::snapshot();
    const byre_stats all{
        result->struct_nbytes, now.lazy_clones,      now.copies,     now.steals,       now.waits,
        now.bytes_copied,      now.bytes_not_copied, now.live_bytes, now.pooled_bytes, now.overlays,
        now.pinned_bytes};
    std::memcpy(result, &all, (std::min)(sizeof all, result->struct_nbytes));
  });
}

const char* byre_copy_cause_name(byre_copy_cause cause) {
  return cause < 0 || cause > BYRE_CAUSE_EXPORTED
             ? "?"
             : stats::to_string(static_cast<stats::CopyCause>(cause));
}

byre_status byre_copy_sink_install(byre_copy_sink sink, void* user, byre_installed_sink** result) {
  return guarded([=] {
    expect_callback(sink, "byre_copy_sink_install");
    create(result, "byre_copy_sink_install", [=](const stats::CopyEvent& event) {
      const byre_copy_event given{event.nbytes, event.site.file, event.site.line,
                                  static_cast<byre_copy_cause>(event.cause)};
      sink(user, &given);
    });
  });
}

void byre_copy_sink_remove(byre_installed_sink* installed) {
  delete installed;
}

byre_status byre_recording_create(size_t limit_nbytes, byre_recording** result) {
  return guarded([=] {
    create(result, "byre_recording_create",
           limit_nbytes == 0 ? trace::Recording::default_limit_nbytes : limit_nbytes);
  });
}

void byre_recording_destroy(byre_recording* recording) {
  delete recording;
}

byre_status byre_recording_stop(byre_recording* recording) {
  return guarded([=] {
    expect_given(recording, "byre_recording_stop", "recording");
    recording->recording.stop();
  });
}

byre_status byre_recording_to_json(const byre_recording* recording, char** text) {
  return store_text(recording, text, "byre_recording_to_json",
                    [](const trace::Recording& events) { return events.to_json(); });
}

byre_status byre_recording_summary(const byre_recording* recording, char** text) {
  return store_text(recording, text, "byre_recording_summary",
                    [](const trace::Recording& events) { return events.summary(); });
}

byre_status byre_recording_write(const byre_recording* recording, const char* file_name) {
  return guarded([=] {
    expect_given(recording, "byre_recording_write", "recording");
    recording->recording.write(file_name);
  });
}

uint64_t byre_recording_lost(const byre_recording* recording) {
  return recording == nullptr ? 0 : recording->recording.lost();
}

byre_status byre_memory_report_to_text(char** text) {
  return guarded([=] {
    expect_given(text, "byre_memory_report_to_text", "text");
    *text = copied_text(to_text(memory_report()));
  });
}

byre_status byre_memory_report_to_json(char** text) {
  return guarded([=] {
    expect_given(text, "byre_memory_report_to_json", "text");
    *text = copied_text(to_json(memory_report()));
  });
}
