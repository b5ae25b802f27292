// SPDX-License-Identifier: BSL-1.0
/// Linked to the fragments of the documents, makes each allocation of each fragment fail, one after another: the
/// fragment has to throw then. A class that byre calls has to keep nothing, too.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "blocks/fragments.hpp"
#include "support/failing_new.hpp"

namespace documents {
namespace {

/// Returns how many blocks the fragment has left over.
std::ptrdiff_t run_until_it_fails(const Fragment& fragment, int nth = byre::test::never_fails) {
  const std::ptrdiff_t alive_before = byre::test::news_alive;
  try {
    const byre::test::FailingNew failing(nth);
    fragment.run();
  } catch (const std::exception&) {
  }
  return byre::test::news_alive - alive_before;
}

/// Ends this process.
[[noreturn]] void fail_each_allocation_here(const Fragment& fragment) {
  are_values_expected = false;
  if (std::freopen("/dev/null", "w", stdout) == nullptr) {
    std::_Exit(EXIT_FAILURE);
  }
  run_until_it_fails(fragment);  // makes what lasts
  const std::ptrdiff_t kept = run_until_it_fails(fragment);
  int status = EXIT_SUCCESS;
  for (int nth = 0;; ++nth) {
    const std::ptrdiff_t left_over = run_until_it_fails(fragment, nth);
    if (!byre::test::new_failed) {
      std::_Exit(status);
    }
    if (fragment.defines_classes && left_over > kept) {
      std::fprintf(stderr, "%s: %td blocks are left over if allocation %d fails\n", fragment.place,
                   left_over - kept, nth);
      status = EXIT_FAILURE;
    }
  }
}

/// In a child of this process: a handler or a mode that the fragment set stays where it throws.
void fail_each_allocation(const Fragment& fragment) {
  const pid_t child = fork();
  if (child == 0) {
    fail_each_allocation_here(fragment);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS) {
    std::fprintf(stderr, "%s: needs to throw, and to keep nothing, if an allocation fails\n",
                 fragment.place);
    ++failures;
  }
}

const bool is_chosen = (run_one = &fail_each_allocation, true);

}  // namespace
}  // namespace documents
