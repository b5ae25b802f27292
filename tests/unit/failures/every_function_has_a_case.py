# SPDX-License-Identifier: BSL-1.0
"""Finds functions of the API whose allocations no test makes fail.

usage: every_function_has_a_case.py tests/unit/failures LIBRARY...

Each API function that the libraries export, and each function of C that returns a status, must
appear by name in a *_cases.cpp table, or in a list below: WITHOUT_MEMORY or PRIVATE.
"""
import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / 'symbols'))
import symbols

C_HEADER = Path(__file__).resolve().parents[3] / 'core/byre/byre.h'

# Functions that are noexcept, or that allocate only through an Allocator.
WITHOUT_MEMORY = """
AlignedAllocator::allocate AlignedAllocator::deallocate AlignedAllocator::nbytes_taken_by Allocator::copy
Budget::Budget Budget::set_limit BudgetedAllocator::BudgetedAllocator BudgetedAllocator::copy BudgetedAllocator::deallocate
BudgetedAllocator::nbytes_taken_by PmrAllocator::deallocate PmrAllocator::nbytes_taken_by ReclaimerMutex::lock
ReclaimerMutex::unlock RecyclingPool::nbytes_taken_by SnapshotWriter::nbytes_left
RecyclingPool::RecyclingPool RecyclingPool::allocate RecyclingPool::allocate_copy RecyclingPool::deallocate
RecyclingPool::default_limit_nbytes RecyclingPool::idle_nbytes RecyclingPool::limit_nbytes
RecyclingPool::set_limit_nbytes RecyclingPool::trim PageSource::seconds 
InvalidArgument::null_deleter InvalidArgument::null_pointer InvalidArgument::size_overflow
OutOfMemory::OutOfMemory OutOfMemory::of_heap Layout::end Layout::is_contiguous Scalar::fits
Tensor::allocator aligned_allocator default_allocator default_pool describe dlpack_device dlpack_dtype format_text set_warning_handler
paged_allocator safetensors_data_offset support_of system_pages usable_memory_nbytes warn
shadow::ReshapeModeScope::ReshapeModeScope shadow::ScopedSuppression::ScopedSuppression
shadow::intrusive_ptr_add_ref shadow::intrusive_ptr_release shadow::mode_named shadow::name_of
shadow::reset_summary shadow::same_site shadow::set_default_reshape_mode shadow::set_violation_handler
shadow::text_of stats::CopyLimit::expect_kept stats::CopyLimit::copies stats::operator- stats::snapshot
stats::to_string trace::Recording::lost
functional::CpuTensor::rebind functional::FunctionalizeOptionsScope::FunctionalizeOptionsScope
functional::Graph::value_count functional::Operator::registered_keys functional::Recording::node_count
functional::RecordingScope::RecordingScope functional::Scanner::accept functional::Scanner::expect
functional::Scanner::expected functional::Scanner::identifier functional::Scanner::is_at_identifier
functional::Scanner::is_at_number functional::Scanner::refuse
functional::Schema::effect functional::Schema::index_of functional::Schema::new_count
functional::TensorImpl::rebind functional::fallback functional::functionalize_options
functional::is_functional functional::name_of functional::thread_keys functional::traits_of
byre_allocator_allocate byre_allocator_copy byre_tiles_tile byre_tiles_read byre_tiles_for_each_part
byre_tiles_for_each_difference byre_atomic_buffer_load byre_atomic_buffer_store byre_atomic_buffer_exchange
byre_atomic_buffer_compare_exchange byre_stats_snapshot collect
""".split() + ["TensorBase::operator new", "TensorBase::operator delete"]

# Private functions, which the cases of public functions call.
PRIVATE = """
Budget::ask Budget::reclaim Budget::take
Dims::copy_heap Dims::copy_heap_without RecyclingPool::find OutputFile::discard
OutputFile::throw_error OutputFile::throw_if_failed OutputFile::throw_text
SnapshotWriter::add SnapshotWriter::await SnapshotWriter::begin SnapshotWriter::begin_next
SnapshotWriter::drop_abandoned SnapshotWriter::drop_last_part_of SnapshotWriter::end
SnapshotWriter::find_being_written SnapshotWriter::find_unshared SnapshotWriter::give_up_buffer
SnapshotWriter::give_up_data SnapshotWriter::give_up_unshared SnapshotWriter::store
SnapshotWriter::reclaim SnapshotWriter::start SnapshotWriter::throw_if_failed SnapshotWriter::write
RecyclingPool::give_back RecyclingPool::idle RecyclingPool::map RecyclingPool::take_small
Scalar::refuse Scalar::refuse_as
Tensor::bytes_to_write_in_parallel Tensor::copy_of Tensor::copy_if_less_than_half Tensor::drop_storage Tensor::element_to_read Tensor::element_to_write
Tensor::expect_dtype Tensor::expect_unshared
Tensor::grow_storage Tensor::make Tensor::copied_to Tensor::nbytes_of_external Tensor::throw_out_of_memory
Tensor::packed Tensor::realize_to_write Tensor::record_copy_onto_itself Tensor::record_read_of_storage
Tensor::refuse_uninitialized Tensor::sees_less_than_half Tensor::reshape_as_alias Tensor::take_storage
Tensor::tracked_bytes_to_read Tensor::tracked_bytes_to_write Tensor::with_layout Tensor::with_layouts
functional::Argument::refuse_to_read functional::Scanner::number functional::Scanner::skip_blanks
""".split()


def exported(library):
    for name, symbol in symbols.exported(library):
        if re.match(r'byre::(?!detail::|sync::|system::)', name) and '::detail::' not in name and '~' not in name and '(' in symbol:
            yield name.removeprefix('byre::')


def main():
    wanted = {name for library in sys.argv[2:] for name in exported(library)}
    wanted |= set(re.findall(r'^BYRE_C_API byre_status (\w+)', C_HEADER.read_text(encoding='utf-8'), re.M))
    tables = '\n'.join(each.read_text(encoding='utf-8') for each in Path(sys.argv[1]).glob('*_cases.cpp'))
    cases = set(re.findall(r'(?:\{|\()\s*"([\w:]+(?:<<|\(\))?)"', tables))
    cases |= {name.replace('Tensor::', 'views::') for name in cases if name.startswith('Tensor::')}  # Tensor calls these
    excepted = set(WITHOUT_MEMORY) | set(PRIVATE)
    problems = [f'{name}: no case' for name in sorted(wanted - cases - excepted)]
    problems += [f'{name}: listed without need: no longer exported, or has a case' for name in sorted(excepted - (wanted - cases))]
    if len(wanted) < 200 or len(cases) < 150:
        problems.append(f'found {len(wanted)} functions and {len(cases)} cases, expected at least 200 and 150')
    print('\n'.join(problems) or f'{len(wanted)} functions, {len(cases)} cases')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
