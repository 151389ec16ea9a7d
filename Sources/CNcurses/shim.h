#ifndef STRATA_CNCURSES_H
#define STRATA_CNCURSES_H
#ifndef _XOPEN_SOURCE_EXTENDED
#define _XOPEN_SOURCE_EXTENDED 1
#endif
#ifndef NCURSES_WIDECHAR
#define NCURSES_WIDECHAR 1
#endif
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

// <wchar.h> hides wcwidth behind a feature macro that Swift's importer does not set.
extern int wcwidth(wchar_t c);

// <term.h> defines hundreds of macros with names such as `lines`; these three are all we need.
extern int setupterm(const char *term, int descriptor, int *problem);
extern char *tigetstr(const char *name);
extern int tigetflag(const char *name);

// A_BOLD and its kin are casts inside macros, which Swift does not import.
static const attr_t strata_attr_bold = A_BOLD;
static const attr_t strata_attr_dim = A_DIM;
static const attr_t strata_attr_underline = A_UNDERLINE;
static const attr_t strata_attr_reverse = A_REVERSE;
static const attr_t strata_attr_normal = A_NORMAL;

// COLORS and COLOR_PAIRS are variables that only exist after start_color.
static inline int strata_colors(void) { return COLORS; }
static inline int strata_color_pairs(void) { return COLOR_PAIRS; }

// stdin, stdout and stdscr are mutable globals to Swift. Standard output where no other is given.
static inline WINDOW *strata_window(void) { return stdscr; }
static inline SCREEN *strata_newterm(const char *term, FILE *output) {
  return newterm(term, output ? output : stdout, stdin);
}

#ifdef __linux__
// Behind _GNU_SOURCE, which Swift's importer does not set.
extern int memfd_create(const char *name, unsigned flags);
extern int dup3(int from, int to, int flags);
#endif

// The name of the character set of the current locale.
static inline const char *strata_codeset(void) { return nl_langinfo(CODESET); }

// ioctl is variadic. 0 when the size is known.
static inline int strata_window_size(int *rows, int *columns) {
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
    return -1;
  *rows = size.ws_row;
  *columns = size.ws_col;
  return 0;
}

// Pairs beyond 32,767 and colours of 24 bits need the extended calls of ncurses 6.1.
static inline int strata_init_pair(int pair, int foreground, int background) {
#if defined(NCURSES_EXT_COLORS) && NCURSES_EXT_COLORS
  return init_extended_pair(pair, foreground, background);
#else
  return init_pair((short)pair, (short)foreground, (short)background);
#endif
}

// One cell: the character and its combining marks, attributes and a colour pair.
static inline int strata_put(int y, int x, const wchar_t *text, attr_t attributes, int pair) {
  cchar_t cell;
#if defined(NCURSES_EXT_COLORS) && NCURSES_EXT_COLORS
  // The pair goes through the extended argument, since a short holds no more than 32,767.
  if (setcchar(&cell, text, attributes, (short)(pair > 32767 ? 0 : pair), &pair) == ERR) return ERR;
#else
  if (setcchar(&cell, text, attributes, (short)pair, NULL) == ERR) return ERR;
#endif
  return mvadd_wch(y, x, &cell);
}
#endif
