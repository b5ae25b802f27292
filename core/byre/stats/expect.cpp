// SPDX-License-Identifier: BSL-1.0
#include <byre/stats/expect.hpp>

#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <string>

namespace byre::inline v0::stats {

/// How many copies there were, and the first call sites.
class CopyLimit::Copies {
 public:
  void record(const CopyEvent& event) {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    ++count_;
    if (count_ <= most_listed) {
      listed_ += format_text("\n  %s:%u: %zu bytes (%s)", event.site.file, event.site.line,
                             event.nbytes, to_string(event.cause))
                     .chars.data();
    }
  }

  std::size_t count() const {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    return count_;
  }

  /// Throws TooManyCopies if there were more than `most`.
  void check(std::size_t most, CallSite site) const {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    if (count_ > most) {
      throw TooManyCopies(format_text(
          "%s:%u: at most %zu copies were expected and %zu were made:%s%s\n"
          "Read through data() instead of mutable_data(), or drop the clones before writing.",
          site.file, site.line, most, count_, listed_.c_str(),
          count_ > most_listed ? "\n  ..." : ""));
    }
  }

 private:
  static constexpr std::size_t most_listed = 4;

  mutable boost::mutex mutex_;
  std::size_t count_ = 0;
  std::string listed_;
};

CopyLimit::CopyLimit(std::size_t most, CallSite site)
    : most_(most),
      site_(site),
      copies_(std::make_unique<Copies>()),
      sink_([copies = copies_.get()](const CopyEvent& event) { copies->record(event); }) {
  if (!BYRE_STATS) {
    throw InvalidArgument(format_text(
        "%s:%u: copies are to be limited, and this byre was built without stats and does not know "
        "of any. Configure it with -Dstats=enabled.",
        site.file, site.line));
  }
}

CopyLimit::~CopyLimit() = default;

std::size_t CopyLimit::copies() const {
  return copies_->count();
}

void CopyLimit::check() const {
  copies_->check(most_, site_);
}

}  // namespace byre::inline v0::stats
