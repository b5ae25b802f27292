// SPDX-License-Identifier: BSL-1.0
/// Every synchronizing step of the slot and of the table of attachments: see attachment.hpp.
#pragma once

#include <byre/sync/detail/site.hpp>

#include <cstdint>

namespace byre::inline v0::detail {

enum class AttachmentSite : std::uint8_t { peek, find, attach, set_tag, lock, unlock };

inline constexpr sync::SiteTable<AttachmentSite, 6> attachment_sites{{{
    {"attachment.peek", sync::Operation::load, std::memory_order::relaxed,
     "nothing: who is told that there is an attachment looks for it with find, and a tag is all "
     "there is to know",
     "relaxed is the weakest order"},
    {"attachment.find", sync::Operation::load, std::memory_order::acquire,
     "attach (release): who finds an attachment finds it whole",
     "first_attachments_race: the attachment is used before it was made"},
    {"attachment.attach", sync::Operation::compare_exchange, std::memory_order::release,
     "find (acquire): the attachment is made before it is found; who comes second finds it by the "
     "lock",
     "first_attachments_race: the attachment is used before it was made; not atomic, two threads "
     "attach at once and use two"},
    {"attachment.set_tag", sync::Operation::compare_exchange, std::memory_order::relaxed,
     "nothing: the number is all there is to know",
     "relaxed is the weakest order; not atomic, tags_give_way: an attachment is lost to a tag"},
    {"attachment.lock", sync::Operation::lock, std::memory_order::seq_cst,
     "unlock: numbers are taken and given back by one thread at a time",
     "left out, numbers_are_given_once: two attachments have one number"},
    {"attachment.unlock", sync::Operation::unlock, std::memory_order::seq_cst, "lock",
     "left out, numbers_are_given_once: nobody takes a number any more"},
}}};

}  // namespace byre::inline v0::detail
