// SPDX-License-Identifier: BSL-1.0
/// The threads of a run, none of which outlives what it works on: not even where one of them cannot
/// be started, or who looks on throws.
#pragma once

#include <boost/thread/thread.hpp>
#include <functional>
#include <utility>

namespace byre::stress {

/// Used by one thread.
class Crew {
 public:
  /// `dismiss` is called in the end, when some may be over, and makes the others end. It does not
  /// throw.
  explicit Crew(std::function<void()> dismiss) : dismiss_(std::move(dismiss)) {}
  /// Waits for all.
  ~Crew() {
    dismiss_();
    threads_.join_all();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Throws boost::thread_resource_error.
  template <class Act>
  void start(Act act) {
    threads_.create_thread(std::move(act));
  }

 private:
  const std::function<void()> dismiss_;
  boost::thread_group threads_;
};

}  // namespace byre::stress
