// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/error/error.hpp>
#include <byre/stats/counters.hpp>
#include <byre/stats/events.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <boost/thread/lock_types.hpp>
#include <boost/thread/shared_mutex.hpp>
#include <exception>
#include <utility>

namespace byre::inline v0::stats {

#if BYRE_STATS
constinit detail::SinkFlag detail::sink_flag;
#endif

namespace {

struct Sinks {
  boost::shared_mutex mutex;
  std::list<CopySink> list;

  void changed() noexcept {
#if BYRE_STATS
    detail::sink_flag.set(!list.empty());
#endif
  }
};

constinit thread_local bool inside_a_sink = false;

void refuse_inside_a_sink() noexcept {
  BYRE_ASSERT(
      !inside_a_sink,
      "a copy sink was installed or uninstalled inside a copy sink, which would wait for itself");
}

Sinks& sinks() noexcept {
  return sync::no_destructor<Sinks>();
}

}  // namespace

const char* to_string(CopyCause cause) noexcept {
  switch (cause) {
    case CopyCause::shared:
      return "shared";
    case CopyCause::pending:
      return "pending";
    case CopyCause::read_only:
      return "read_only";
    case CopyCause::borrowed:
      return "borrowed";
    case CopyCause::resized:
      return "resized";
  }
  return "?";
}

InstalledSink::InstalledSink(CopySink sink) {
  refuse_inside_a_sink();
  node_.push_back(std::move(sink));
  place_ = node_.begin();
  const boost::unique_lock<boost::shared_mutex> lock(sinks().mutex);
  sinks().list.splice(sinks().list.end(), node_);
  sinks().changed();
}

InstalledSink::~InstalledSink() {
  refuse_inside_a_sink();
  const boost::unique_lock<boost::shared_mutex> lock(sinks().mutex);
  node_.splice(node_.end(), sinks().list, place_);
  sinks().changed();
}

#if BYRE_STATS

namespace {

void tell(const CopySink& sink, const CopyEvent& event) noexcept {
  try {
    sink(event);
  } catch (const std::exception& error) {
    warn("a copy sink threw: %s. The copy that it was called for is complete.", error.what());
  } catch (...) {
    warn("a copy sink threw. The copy that it was called for is complete.");
  }
}

}  // namespace

void detail::tell_sinks(const CopyEvent& event) noexcept {
  if (inside_a_sink) {
    return;
  }
  inside_a_sink = true;
  {
    const boost::shared_lock<boost::shared_mutex> lock(sinks().mutex);
    for (const CopySink& sink : sinks().list) {
      tell(sink, event);
    }
  }
  inside_a_sink = false;
}

#endif

}  // namespace byre::inline v0::stats
