// SPDX-License-Identifier: BSL-1.0
/// All stories.
#pragma once

#include "concurrent_materialize.hpp"
#include "drops_against_copies.hpp"
#include "drops_against_drops.hpp"
#include "failing_copies.hpp"
#include "families_write_at_once.hpp"
#include "first_clones_at_once.hpp"
#include "lazy_clone_against_materialize.hpp"
#include "never_waits.hpp"
#include "reads_against_writes_in_place.hpp"
#include "reshapes_of_tensors.hpp"
#include "steal_against_pending_copies.hpp"
#include "stolen_data_is_shared_again.hpp"
#include "views_of_one_alias.hpp"
