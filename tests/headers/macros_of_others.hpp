// SPDX-License-Identifier: BSL-1.0
/// Macros of other libraries, whose names may collide with names in a library.
#pragma once

// X11/X.h, X11/Xlib.h
#define None 0L
#define Bool int
#define Status int
#define True 1
#define False 0
#define Success 0
#define Always 2
#define Above 0
#define Below 1
#define Unsorted 0
#define Convex 2
#define Complex 0
#define Expose 12
#define KeyPress 2
#define FocusIn 9
#define CursorShape 0
// windows.h and the headers that it includes
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define near
#define far
#define small char
#define hyper long long
#define interface struct
#define ERROR 0
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define DELETE (0x00010000L)
#define STRICT 1
#define TRUE 1
#define FALSE 0
#define ABSOLUTE 1
#define RELATIVE 2
#define DIFFERENCE 11
#define NO_ERROR 0L
#define DOMAIN 1
#define OVERFLOW 3
#define pascal
#define CreateFile CreateFileW
#define GetObject GetObjectW
#define SendMessage SendMessageW
// Qt
#define signals public
#define slots
#define emit
#define foreach(variable, container) for (variable : container)
#define forever for (;;)
// curses; its macros with arguments are functions in C++
#define OK 0
#define ERR (-1)
// sys/sysmacros.h
#define major(device) gnu_dev_major(device)
#define minor(device) gnu_dev_minor(device)
#define makedev(major, minor) gnu_dev_makedev(major, minor)
// Test frameworks, and macros like assert
#define check(condition) ((condition) ? (void)0 : abort())
#define fail() abort()
#define verify(condition) ((condition) ? (void)0 : abort())
#define require(condition) ((condition) ? (void)0 : abort())
#define CHECK(condition) check(condition)
#define REQUIRE(condition) check(condition)
#define TEST(suite, name) void suite##_##name()
#define EXPECT(condition) check(condition)
#define SECTION(name) if (true)
#define SCENARIO(name) void scenario()
#define FAIL(text) abort()
#define INFO(text) (void)0
