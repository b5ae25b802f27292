// SPDX-License-Identifier: BSL-1.0
#include <byre/storage/detail/attachment.hpp>

namespace byre::inline v0 {

template <>
detail::basic_attachment_table<sync::Boost>
    sync::detail::TheOne<detail::basic_attachment_table<sync::Boost>>::object{};

}  // namespace byre::inline v0
