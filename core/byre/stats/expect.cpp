// SPDX-License-Identifier: BSL-1.0
#include <byre/stats/expect.hpp>

#include <boost/thread/lock_guard.hpp>

namespace byre::inline v0::stats {
namespace {

constexpr std::size_t most_places = 4;

}  // namespace

CopyLimit::CopyLimit(std::size_t most, CallSite site)
    : most_(most), site_(site), sink_([this](const CopyEvent& event) { note(event); }) {
  if (!BYRE_STATS) {
    throw InvalidArgument(
        format_text("%s:%u: copies are to be limited, and this byre was built without stats and "
                    "does not know of "
                    "any. Configure it with -Dstats=enabled.",
                    site.file, site.line));
  }
}

std::size_t CopyLimit::copies() const {
  const boost::lock_guard<boost::mutex> lock(mutex_);
  return copies_;
}

void CopyLimit::note(const CopyEvent& event) {
  const boost::lock_guard<boost::mutex> lock(mutex_);
  ++copies_;
  if (copies_ <= most_places) {
    places_ += format_text("\n  %s:%u: %zu bytes (%s)", event.site.file, event.site.line,
                           event.nbytes, to_string(event.cause))
                   .chars.data();
  }
}

void CopyLimit::check() const {
  const boost::lock_guard<boost::mutex> lock(mutex_);
  if (copies_ > most_) {
    throw TooManyCopies(format_text(
        "%s:%u: at most %zu copies were expected and %zu were made:%s%s\n"
        "Read through data() instead of mutable_data(), or drop the clones before writing.",
        site_.file, site_.line, most_, copies_, places_.c_str(),
        copies_ > most_places ? "\n  ..." : ""));
  }
}

}  // namespace byre::inline v0::stats
