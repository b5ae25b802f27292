// SPDX-License-Identifier: BSL-1.0
#include "borrowed_memory.hpp"

namespace byre::verification {

const Scenario borrowed_memory = scenario<BorrowedMemory<basic_share_word, false>>({
    .name = "borrowed_memory",
    .shows = "Borrowed memory may be cloned by two threads at once, and no clone depends on the "
             "loan: promises 1 and 7.",
});

const Scenario read_only_loan = scenario<BorrowedMemory<basic_share_word, true>>({
    .name = "read_only_loan",
    .shows = "The same of memory that must not be written: the lender's stays as it is.",
});

const Scenario locked_borrowed_memory = scenario<BorrowedMemory<basic_share_lock, false>>({
    .name = "locked_borrowed_memory",
    .shows = "The same of the textbook form.",
});

const Scenario locked_read_only_loan = scenario<BorrowedMemory<basic_share_lock, true>>({
    .name = "locked_read_only_loan",
    .shows = "The same of the textbook form.",
});

}  // namespace byre::verification
