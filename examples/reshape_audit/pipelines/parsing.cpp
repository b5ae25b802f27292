// SPDX-License-Identifier: BSL-1.0
#include "pipeline.hpp"

namespace examples::reshape_audit {
namespace {

constexpr std::int64_t rows = 3;
constexpr std::int64_t columns = 4;

/// A number a cell, as a parser of text would find them.
float parsed_cell(std::int64_t row, std::int64_t column) {
  return static_cast<float>(10 * row + column);
}

void parser_fills_rows(Journal& journal) {
  const Tensor buffer = Tensor::zeros({rows * columns}, DType::f32);
  Tensor table = buffer.reshape({rows, columns});  // reshaped 1, view 1
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      table.set_at({row, column}, parsed_cell(row, column));  // written 1
    }
  }
  journal.saw(buffer);  // then read 1
}

void parser_fills_rows_rewritten(Journal& journal) {
  const Tensor buffer = Tensor::zeros({rows * columns}, DType::f32);
  Tensor table = buffer.view({rows, columns});
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      table.set_at({row, column}, parsed_cell(row, column));
    }
  }
  journal.saw(buffer);
}

void parser_by_pointer(Journal& journal) {
  const Tensor buffer = Tensor::zeros({rows * columns}, DType::f32);
  Tensor table = buffer.reshape({rows, columns});              // reshaped 1, view 1
  const auto cells = byre::mutable_accessor<float, 2>(table);  // written 1
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      cells(row, column) = parsed_cell(row, column);
    }
  }
  journal.saw(buffer);  // then read 1
}

void parser_by_pointer_rewritten(Journal& journal) {
  const Tensor buffer = Tensor::zeros({rows * columns}, DType::f32);
  Tensor table = buffer.view({rows, columns});
  const auto cells = byre::mutable_accessor<float, 2>(table);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      cells(row, column) = parsed_cell(row, column);
    }
  }
  journal.saw(buffer);
}

void header_and_records(Journal& journal) {
  Tensor packet = Tensor::zeros({1 + rows, columns}, DType::f32);
  Tensor words = packet.reshape({(1 + rows) * columns});  // reshaped 1 2 3, view 1 2 3
  packet.set_at({0, 0}, 42.0F);                           // written 1 3
  for (std::int64_t row = 0; row < rows; ++row) {
    words.set_at({columns * (row + 1)}, parsed_cell(row, 7));  // then written 1, written 2
  }
  journal.saw(packet);  // then read 2
  journal.saw(words);   // seen 1, then read 3
}

void header_and_records_rewritten(Journal& journal) {
  Tensor packet = Tensor::zeros({1 + rows, columns}, DType::f32);
  Tensor words = packet.view({(1 + rows) * columns});
  packet.set_at({0, 0}, 42.0F);
  for (std::int64_t row = 0; row < rows; ++row) {
    words.set_at({columns * (row + 1)}, parsed_cell(row, 7));
  }
  journal.saw(packet);
  journal.saw(words);
}

Tensor parsed_table() {
  Tensor buffer = Tensor::zeros({rows * columns}, DType::f32);
  for (std::int64_t cell = 0; cell < rows * columns; ++cell) {
    buffer.set_at({cell}, parsed_cell(cell / columns, cell % columns));
  }
  return buffer.reshape({rows, columns});
}

void parser_returns_table(Journal& journal) {
  Tensor table = parsed_table();
  byre::add_(table, 1.0);
  journal.saw(table);
}

}  // namespace

Pipelines parsing_pipelines() {
  return {
      {"parser_fills_rows",
       "a parser fills the rows of a buffer, which is read as it is",
       parser_fills_rows,
       {parser_fills_rows_rewritten, as_alias}},
      {"parser_by_pointer",
       "the same through an accessor, so a pointer that nobody watches",
       parser_by_pointer,
       {parser_by_pointer_rewritten, as_alias}},
      {"header_and_records",
       "a packet's header is written as it is, its records as words",
       header_and_records,
       {header_and_records_rewritten, as_alias}},
      {"parser_returns_table", "a buffer is filled, and nobody has it but its reshape",
       parser_returns_table},
  };
}

}  // namespace examples::reshape_audit
