// SPDX-License-Identifier: BSL-1.0
/// Every synchronizing step of attachments: see attachment.hpp.
#pragma once

#include <byre/sync/constant.hpp>
#include <byre/sync/site.hpp>

namespace byre::inline v0::detail {

enum class AttachmentSite : std::uint8_t { find, attach, find_other, lock, unlock };

inline constexpr sync::SiteTable<AttachmentSite, 5> attachment_sites{{{
    {"attachment.find", sync::Operation::load, std::memory_order::acquire,
     "attach (release): who finds an attachment finds it whole",
     "first_attachments_race: the attachment is used before it was made"},
    {"attachment.attach", sync::Operation::compare_exchange, std::memory_order::release,
     "find and find_other (acquire): the attachment is made before it is found",
     "first_attachments_race: the attachment is used before it was made; not atomic, two threads "
     "attach at once and use two"},
    {"attachment.find_other", sync::Operation::load, std::memory_order::acquire,
     "attach (release): who came second uses the attachment of the first",
     "first_attachments_race: the first's attachment is used before it was made"},
    {"attachment.lock", sync::Operation::lock, std::memory_order::seq_cst,
     "unlock: numbers are taken and given back by one thread at a time",
     "numbers_are_given_once: two attachments have one number"},
    {"attachment.unlock", sync::Operation::unlock, std::memory_order::seq_cst, "lock",
     "numbers_are_given_once: a deadlock"},
}}};

}  // namespace byre::inline v0::detail
