// SPDX-License-Identifier: BSL-1.0
#include "support/random.hpp"

#include <byre/functional/dispatch/scanner.hpp>
#include <byre/functional/graph/file.hpp>

#include <gtest/gtest.h>
#include <random>
#include <string>

namespace {

using namespace byre;
using namespace byre::functional;

struct WrongGraph {
  const char* text;
  const char* says;
  std::size_t line;
  std::size_t column;
};

class WrongGraphs : public testing::TestWithParam<WrongGraph> {};

TEST_P(WrongGraphs, are_refused_where_they_are_wrong) {
  const WrongGraph& wrong = GetParam();
  try {
    read_graph(wrong.text);
    FAIL() << wrong.text << "was taken";
  } catch (const SyntaxError& error) {
    EXPECT_NE(std::string(error.what()).find(wrong.says), std::string::npos) << error.what();
    EXPECT_EQ(error.line(), wrong.line) << error.what();
    EXPECT_EQ(error.column(), wrong.column) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, WrongGraphs,
    testing::Values(
        WrongGraph{"", "expected 'graph', found the end", 1, 1},
        WrongGraph{"graphs():\nreturn", "expected 'graph', found 'graphs'", 1, 1},
        WrongGraph{"graph(0: f32[]):\nreturn", "expected a value", 1, 7},
        WrongGraph{"graph(%1: f32[]):\nreturn", "the next is %0", 1, 7},
        WrongGraph{"graph(%0: f32[], %0: f32[]):\nreturn", "the next is %1", 1, 18},
        WrongGraph{"graph(%0 f32[]):\nreturn", "expected ':', found '['", 1, 13},
        WrongGraph{"graph(%0: f33[]):\nreturn", "expected a number, true", 1, 11},
        WrongGraph{"graph(%0: 3[]):\nreturn", "expected a dtype", 1, 11},
        WrongGraph{"graph(%0: f32):\nreturn", "expected sizes, found ')'", 1, 14},
        WrongGraph{"graph(%0: f32[-1]):\nreturn", "-1", 1, 11},
        WrongGraph{"graph(%0: i64[4611686018427387904, 4]):\nreturn", "more", 1, 11},
        WrongGraph{"graph(%0: f32[]) return", "expected ':'", 1, 18},
        WrongGraph{"graph(): return", "expected the end of the line, found 'return'", 1, 10},
        WrongGraph{"graph():\n", "expected a value, as %0, or return, found the end", 2, 1},
        WrongGraph{"graph():\nreturns", "expected a value, as %0, or return, found 'returns'", 2,
                   1},
        WrongGraph{"graph():\nreturn %0", "there is no value of this number yet", 2, 8},
        WrongGraph{"graph(%0: f32[]):\nreturn %0,", "expected a value", 2, 11},
        WrongGraph{"graph(%0: f32[]):\nreturn %0 %0", "expected the end of the line", 2, 11},
        WrongGraph{"graph(%0: f32[]):\nreturn %0\nx", "expected the end, found 'x'", 3, 1},
        WrongGraph{"graph(%0: f32[]):\nreturn %9223372036854775808", "more than i64", 2, 9},
        WrongGraph{"graph(%0: f32[]):\n%1: f32[] = \nreturn", "expected an operator", 2, 13},
        WrongGraph{"graph(%0: f32[]):\n%1: f32[] = ned(%0)\nreturn", "there is no operator 'ned'",
                   2, 13},
        WrongGraph{"graph(%0: f32[]):\n%1: f32[] = neg.(%0)\nreturn", "the name of an overload", 2,
                   17},
        WrongGraph{"graph(%0: f32[]):\n%1: f32[] = neg(%1)\nreturn", "no value of this number", 2,
                   17},
        WrongGraph{"graph(%0: f32[]):\n%1: f32[] = neg(%-1)\nreturn", "no value of this number", 2,
                   17},
        WrongGraph{"graph(%0: f32[]):\n%1: f32[] = neg()\nreturn", "was not given 'a'", 2, 13},
        WrongGraph{"graph(%0: f32[]):\n%1: f32[] = neg(%0\nreturn",
                   "expected ')', found the end of", 2, 19},
        WrongGraph{"graph(%0: f32[]):\n%1: f32[] = neg(1)\nreturn", "was given int 1", 2, 13},
        WrongGraph{"graph(%0: f32[]):\n%1: f32[] = neg([%0])\nreturn", "Tensor[] of 1", 2, 13},
        WrongGraph{"graph(%0: f32[]):\n%1: f32[1] = cat([%0, 1])\nreturn", "expected a value", 2,
                   23},
        WrongGraph{"graph(%0: f32[2]):\n%1: f32[] = neg_(%0)\nreturn", "neg_ writes", 2, 13},
        WrongGraph{"graph(%0: f32[2]):\n%1: f32[] = select(%0, 0, 1)\nreturn",
                   "select makes a view", 2, 13},
        WrongGraph{"graph(%0: f32[2]):\n%1: f32[] = select_copy(%0, 0, 2)\nreturn", "select", 2,
                   13},
        WrongGraph{"graph(%0: f32[2]):\n%1: f32[3] = neg(%0)\nreturn", "this is f32[2]", 2, 5},
        WrongGraph{"graph(%0: f32[2]):\n%1: f64[2] = neg(%0)\nreturn", "this is f32[2]", 2, 5},
        WrongGraph{"graph(%0: f32[2]):\n%1: f32[2], %2: f32[2] = neg(%0)\nreturn",
                   "this has 1 results, and not 2", 2, 26},
        WrongGraph{"graph(%0: f32[2]):\n%0: f32[2] = neg(%0)\nreturn", "the next is %1", 2, 1},
        WrongGraph{"graph(%0: f32[2]):\n%2: f32[2] = neg(%0)\nreturn", "the next is %1", 2, 1},
        WrongGraph{"graph(%0: f32[2]):\n%1: f32[2] = to(%0, uninitialized)\nreturn",
                   "a dtype is needed", 2, 14},
        WrongGraph{"graph():\n%0: f32[1] = constant\nreturn", "expected the contents", 2, 22},
        WrongGraph{"graph():\n%0: f32[1] = constant 3f\nreturn", "expected the contents", 2, 23},
        WrongGraph{"graph():\n%0: f32[1] = constant x3f\nreturn", "f32[1] has 4 bytes", 2, 23},
        WrongGraph{"graph():\n%0: u8[1] = constant x3\nreturn", "u8[1] has 1 bytes", 2, 22},
        WrongGraph{"graph():\n%0: u8[1] = constant x012\nreturn", "u8[1] has 1 bytes", 2, 22},
        WrongGraph{"graph():\n%0: u8[1] = constant x0g\nreturn", "not '0g'", 2, 22},
        WrongGraph{"graph():\n%0: bool[1] = constant x02\nreturn", "bool", 2, 24},
        WrongGraph{"graph():\n%0: i64[2305843009213693952] = constant x\nreturn", "more", 2, 41},
        WrongGraph{"graph():\n%0: u8[1], %1: u8[1] = constant x00\nreturn", "this has 1 results", 2,
                   24}));

TEST(DamagedGraphs, are_refused_or_whole) {
  const std::string whole =
      "graph(%0 x: f32[2, 3], %1: i64[3]):\n"
      "  %2: f32[2] = constant x0000803f00000040\n"
      "  %3: f32[3] = select_copy(%0, 0, 1)\n"
      "  %4: f32[2, 3] = add(%0, %1)\n"
      "  %5: f32[4, 3] = cat([%0, %4], 0)\n"
      "  %6: f32[4, 1] = sum.axes(%5, [-1], true)\n"
      "  return %6, %3\n";
  std::mt19937_64 random(test::seed());
  const auto below = [&random](std::size_t count) { return random() % count; };
  int read = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string text = whole;
    for (std::size_t damages = 1 + below(3); damages != 0; --damages) {
      const std::string other = whole.substr(below(whole.size()), below(8));
      text.replace(below(text.size()), below(4), other);
    }
    try {
      const Graph graph = read_graph(text);
      EXPECT_EQ(write_graph(read_graph(write_graph(graph))), write_graph(graph)) << text;
      ++read;
    } catch (const SyntaxError&) {
    }
  }
  EXPECT_GT(read, 0);
}

}  // namespace
