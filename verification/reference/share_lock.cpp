// SPDX-License-Identifier: BSL-1.0
#include <byre/cow/detail/share_lock.hpp>

namespace byre::inline v0 {

template <>
cow::basic_no_data<sync::Boost, basic_share_lock>
    sync::detail::TheOne<cow::basic_no_data<sync::Boost, basic_share_lock>>::object{};

}  // namespace byre::inline v0
