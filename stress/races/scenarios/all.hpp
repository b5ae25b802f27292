// SPDX-License-Identifier: BSL-1.0
/// The scenarios of buffers and storages, each a template over the type of buffer.
#pragma once

#include "concurrent_materialize.hpp"
#include "drops_against_copies.hpp"
#include "drops_against_drops.hpp"
#include "failing_copies.hpp"
#include "families_write_at_once.hpp"
#include "first_clones_at_once.hpp"
#include "lazy_clone_against_materialize.hpp"
#include "loops_at_once.hpp"
#include "never_waits.hpp"
#include "reads_against_writes_in_place.hpp"
#include "steal_against_pending_copies.hpp"
#include "stolen_data_is_shared_again.hpp"
#include "tiles_cloned_at_once.hpp"
#include "tiles_written_at_once.hpp"
#include "unpins_against_clones.hpp"
