// SPDX-License-Identifier: BSL-1.0
// Any chain of operators on f32, from element to element: a program of instructions, which are specialization constants.
// So the driver compiles what they say, and nothing that interprets them. See fusion/kernel.hpp.
#version 460
#extension GL_GOOGLE_include_directive : require
#define DOMAIN 1
#define Value float
#include "arithmetic.glsl"
#include "exponential.glsl"

#define ALL(DO) \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) \
  DO(16) DO(17) DO(18) DO(19) DO(20) DO(21) DO(22) DO(23) DO(24) DO(25) DO(26) DO(27) DO(28) DO(29) DO(30) DO(31) \
  DO(32) DO(33) DO(34) DO(35) DO(36) DO(37) DO(38) DO(39) DO(40) DO(41) DO(42) DO(43) DO(44) DO(45) DO(46) DO(47) \
  DO(48) DO(49) DO(50) DO(51) DO(52) DO(53) DO(54) DO(55) DO(56) DO(57) DO(58) DO(59) DO(60) DO(61) DO(62) DO(63)
#define ALL_PARAMETERS(DO) \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) \
  DO(16) DO(17) DO(18) DO(19) DO(20) DO(21) DO(22) DO(23) DO(24) DO(25) DO(26) DO(27) DO(28) DO(29) DO(30) DO(31) \
  DO(32) DO(33) DO(34) DO(35) DO(36) DO(37) DO(38) DO(39) DO(40) DO(41) DO(42) DO(43) DO(44) DO(45) DO(46) DO(47) \
  DO(48) DO(49) DO(50) DO(51) DO(52) DO(53) DO(54) DO(55) DO(56) DO(57) DO(58) DO(59) DO(60) DO(61) DO(62) DO(63) \
  DO(64) DO(65) DO(66) DO(67) DO(68) DO(69) DO(70) DO(71) DO(72) DO(73) DO(74) DO(75) DO(76) DO(77) DO(78) DO(79) \
  DO(80) DO(81) DO(82) DO(83) DO(84) DO(85) DO(86) DO(87) DO(88) DO(89) DO(90) DO(91) DO(92) DO(93) DO(94) DO(95) \
  DO(96) DO(97) DO(98) DO(99) DO(100) DO(101) DO(102) DO(103) DO(104) DO(105) DO(106) DO(107) DO(108) DO(109) DO(110) DO(111) \
  DO(112) DO(113) DO(114) DO(115) DO(116) DO(117) DO(118) DO(119) DO(120) DO(121) DO(122) DO(123) DO(124) DO(125) DO(126) DO(127) \
  DO(128) DO(129) DO(130) DO(131) DO(132) DO(133) DO(134) DO(135) DO(136) DO(137) DO(138) DO(139) DO(140) DO(141) DO(142) DO(143) \
  DO(144) DO(145) DO(146) DO(147) DO(148) DO(149) DO(150) DO(151) DO(152) DO(153) DO(154) DO(155) DO(156) DO(157) DO(158) DO(159) \
  DO(160) DO(161) DO(162) DO(163) DO(164) DO(165) DO(166) DO(167) DO(168) DO(169) DO(170) DO(171) DO(172) DO(173) DO(174) DO(175) \
  DO(176) DO(177) DO(178) DO(179) DO(180) DO(181) DO(182) DO(183) DO(184) DO(185) DO(186) DO(187) DO(188) DO(189) DO(190) DO(191) \
  DO(192) DO(193) DO(194) DO(195) DO(196) DO(197) DO(198) DO(199) DO(200) DO(201) DO(202) DO(203) DO(204) DO(205) DO(206) DO(207) \
  DO(208) DO(209) DO(210) DO(211) DO(212) DO(213) DO(214) DO(215) DO(216) DO(217) DO(218) DO(219) DO(220) DO(221) DO(222) DO(223) \
  DO(224) DO(225) DO(226) DO(227) DO(228) DO(229) DO(230) DO(231) DO(232) DO(233) DO(234) DO(235) DO(236) DO(237) DO(238) DO(239) \
  DO(240) DO(241) DO(242) DO(243) DO(244) DO(245) DO(246) DO(247) DO(248) DO(249) DO(250) DO(251) DO(252) DO(253) DO(254) DO(255)
#define DECLARE(n) layout(constant_id = n) const uint code_##n = 0u;
ALL(DECLARE)
layout(local_size_x_id = 64, local_size_y_id = 65) in;
#define DECLARE_PARAMETER(n) layout(constant_id = 66 + n) const int parameter_##n = 0;
ALL_PARAMETERS(DECLARE_PARAMETER)
int all_parameters[256];

#define INPUT(n) layout(std430, set = 0, binding = n) readonly buffer Input##n { float at[]; } input_##n;
#define OUTPUT(n) layout(std430, set = 0, binding = n) buffer Output##n { float at[]; } output_##n;
INPUT(0) INPUT(1) INPUT(2) INPUT(3) INPUT(4) INPUT(5)
OUTPUT(6) OUTPUT(7)

// Which the compiler does not know: programs that differ in them alone are one pipeline, and x * 0 is not 0, nor x + 0
// x, whatever their signs.
layout(push_constant) uniform Push { float numbers[32]; } push;

const uint load = 1u, number = 2u, window = 3u, select = 4u, add = 5u, sub = 6u, mul = 7u, div = 8u, neg = 9u,
           relu = 10u, exponential_ = 11u, ge = 12u, eq = 13u, store = 14u;

float register_[64];
ivec3 position;  // z, y, x

float read(uint binding, int at) {
  switch (binding) {
    case 0u: return input_0.at[at];
    case 1u: return input_1.at[at];
    case 2u: return input_2.at[at];
    case 3u: return input_3.at[at];
    case 4u: return input_4.at[at];
    default: return input_5.at[at];
  }
}

void write(uint output_number, int at, float value) {
  if (output_number == 0u) {
    output_6.at[at] = value;
  } else {
    output_7.at[at] = value;
  }
}

bool is_in(uint of) {
  return of == 0u || register_[of - 1u] != 0.0;
}

ivec3 three(uint first) {
  return ivec3(all_parameters[first], all_parameters[first + 1u], all_parameters[first + 2u]);
}

float result_of(uint code) {
  const uint a = code >> 8 & 255u;
  const uint b = code >> 16 & 255u;
  const uint c = code >> 24;
  switch (code & 255u) {
    case load: {
      const ivec3 way = position * three(a + 1u);
      const int at = all_parameters[a] + way.x + way.y + way.z;
      float value = 0.0;
      if (is_in(b)) {
        value = read(c, at);
      }
      return value;
    }
    case number:
      return push.numbers[a];
    case window:
      return is_in(b) && all(greaterThanEqual(position, three(a))) && all(lessThan(position, three(a + 3u))) ? 1.0 : 0.0;
    case select:
      return register_[a] != 0.0 ? register_[b] : register_[c];
    case add:
      return plus(register_[a], register_[b]);
    case sub: {
      precise float difference = register_[a] - register_[b];
      return difference;
    }
    case mul:
      return times(register_[a], register_[b]);
    case div:
      return register_[a] / register_[b];
    case neg:
      return -register_[a];
    case relu:
      return register_[a] < 0.0 ? 0.0 : register_[a];
    case exponential_:
      return exponential(register_[a]);
    case ge:
      return register_[a] >= register_[b] ? 1.0 : 0.0;
    case eq:
      return register_[a] == register_[b] ? 1.0 : 0.0;
    case store:
      write(c, (position.x * all_parameters[1] + position.y) * all_parameters[2] + position.z + all_parameters[b],
            register_[a]);
      return 0.0;
    default:
      return 0.0;
  }
}

void main() {
#define SET_PARAMETER(n) all_parameters[n] = parameter_##n;
  ALL_PARAMETERS(SET_PARAMETER)
  position = ivec3(gl_GlobalInvocationID.zyx);
  if (any(greaterThanEqual(position, three(0u)))) {
    return;
  }
#define RUN(n) if (code_##n != 0u) { register_[n] = result_of(code_##n); }
  ALL(RUN)
}
