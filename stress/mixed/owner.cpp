// SPDX-License-Identifier: BSL-1.0
#include "owner.hpp"

namespace byre::stress {

void Owner::check_success(Operation operation, std::optional<Fault> fault) {
  // If memory to spare is refused, a resize asks for its size alone.
  const bool did_with_less = operation == Operation::resize && fault != Fault::copy;
  if (fault && !did_with_less) {
    fail(std::string(name_of(operation)) + " did not throw despite the injected fault " +
         std::string(name_of(*fault)));
  }
}

void Owner::check_error(std::optional<Fault> fault, const std::exception& error) {
  if (fault && !is_of(*fault, error)) {
    fail("threw another error than " + std::string(name_of(*fault)) + " does: " + error.what());
  } else if (!fault && is_of(Fault::heap, error)) {
    fail("out of memory, without an injected fault; use fewer --storages or smaller --sizes: " +
         std::string(error.what()));
  } else if (!fault) {
    fail("threw without an injected fault: " + std::string(error.what()));
  }
}

void Owner::fail(const std::string& text) {
  failures_.add("thread " + std::to_string(thread_) + ": " + text);
}

void Owner::expect_no_fault(const char* what, std::size_t nbytes,
                            const std::optional<std::string>& fault) {
  counts_.bytes_checked += nbytes;
  if (fault) {
    fail(what + *fault);
  }
}

}  // namespace byre::stress
