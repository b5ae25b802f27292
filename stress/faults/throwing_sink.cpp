// SPDX-License-Identifier: BSL-1.0
#include "throwing_sink.hpp"

#include <boost/atomic/atomic.hpp>
#include <stdexcept>
#include <string>

#include "injector.hpp"

namespace byre::stress {
namespace {

// Relaxed throughout: a sum, which publishes nothing.
constinit boost::atomic<std::uint64_t> warnings{0};

void count_warning(const char*) noexcept {
  warnings.fetch_add(1, boost::memory_order_relaxed);
}

void throw_if_told(const stats::CopyEvent&) {
  Injector* injector = Injector::current();
  if (injector != nullptr && injector->fires(Fault::sink)) {
    Injector::suspend_heap_fault();  // or the exception could not be allocated, unseen
    throw std::runtime_error("the sink was made to fail");
  }
}

}  // namespace

ThrowingSink::ThrowingSink(bool installed) {
  if (installed) {
    warnings.store(0, boost::memory_order_relaxed);
    handler_before_ = set_warning_handler(&count_warning);
    sink_.emplace(&throw_if_told);
  }
}

ThrowingSink::~ThrowingSink() {
  if (sink_) {
    sink_.reset();
    set_warning_handler(handler_before_);
  }
}

void ThrowingSink::check(std::uint64_t thrown, Failures& failures) const {
  const std::uint64_t warned = warnings.load(boost::memory_order_relaxed);
  if (sink_ && warned != thrown) {
    failures.add("sinks threw " + std::to_string(thrown) + " times, and there were " +
                 std::to_string(warned) + " warnings");
  }
}

}  // namespace byre::stress
