// SPDX-License-Identifier: BSL-1.0
#include <byre/cow/detail/header.hpp>

namespace byre::inline v0 {

template <>
constinit cow::basic_no_data<sync::Boost, basic_share_word>
    sync::detail::TheOne<cow::basic_no_data<sync::Boost, basic_share_word>>::object{};

}  // namespace byre::inline v0
