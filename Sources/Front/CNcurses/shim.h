#ifndef STRATA_CNCURSES_H
#define STRATA_CNCURSES_H
#ifndef __APPLE__
#ifndef _XOPEN_SOURCE_EXTENDED
#define _XOPEN_SOURCE_EXTENDED 1
#endif
#ifndef NCURSES_WIDECHAR
#define NCURSES_WIDECHAR 1
#endif
#endif
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#if defined(__APPLE__) && !(defined(NCURSES_WIDECHAR) && NCURSES_WIDECHAR)
// On macOS <curses.h> is the module Darwin.ncurses, for which no macro of another header holds: what is wide in
// it stays hidden. The library has it, and this is how 5.7 and 6.0 declare it.
typedef struct {
  attr_t attr;
  wchar_t chars[5];
} cchar_t;
extern int setcchar(
  cchar_t *cell, const wchar_t *text, const attr_t attributes, short pair, const void *options);
extern int mvadd_wch(int y, int x, const cchar_t *cell);
extern int wget_wch(WINDOW *window, wint_t *character);
#endif

// Pairs above 255, and colours that are no numbers of a palette: 6.0 may have NCURSES_EXT_COLORS too, but
// init_extended_pair came with 6.1.
#if defined(NCURSES_EXT_COLORS) && NCURSES_EXT_COLORS \
  && (NCURSES_VERSION_MAJOR > 6 || (NCURSES_VERSION_MAJOR == 6 && NCURSES_VERSION_MINOR >= 1))
#define STRATA_EXTENDED_PAIRS 1
#else
#define STRATA_EXTENDED_PAIRS 0
#endif

// <wchar.h> hides wcwidth behind a feature macro that Swift's importer does not set.
extern int wcwidth(wchar_t c);

// <term.h> defines hundreds of macros with names such as `lines`; this is all we need of it.
extern int setupterm(const char *term, int descriptor, int *problem);
// macOS declares these with `char *`, though they write nothing there.
static inline char *strata_tigetstr(const char *name) { return tigetstr((char *)name); }
static inline int strata_tigetflag(const char *name) { return tigetflag((char *)name); }

// A_BOLD and its kin are casts inside macros, which Swift does not import.
static const attr_t strata_attr_bold = A_BOLD;
static const attr_t strata_attr_dim = A_DIM;
static const attr_t strata_attr_underline = A_UNDERLINE;
static const attr_t strata_attr_reverse = A_REVERSE;
static const attr_t strata_attr_normal = A_NORMAL;

// COLORS and COLOR_PAIRS are variables that only exist after start_color.
static inline int strata_colors(void) { return COLORS; }
static inline int strata_color_pairs(void) {
  // Without the extension a pair is eight bits of the attributes.
  return STRATA_EXTENDED_PAIRS || COLOR_PAIRS < 256 ? COLOR_PAIRS : 256;
}
// Whether a colour may be one of 24 bits.
static inline bool strata_has_direct_colors(void) { return STRATA_EXTENDED_PAIRS; }

// stdin, stdout and stdscr are mutable globals to Swift. Standard output where no other is given.
static inline WINDOW *strata_window(void) { return stdscr; }
static inline SCREEN *strata_newterm(const char *term, FILE *output) {
  return newterm((char *)term, output ? output : stdout, stdin);
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
#if STRATA_EXTENDED_PAIRS
  return init_extended_pair(pair, foreground, background);
#else
  return init_pair((short)pair, (short)foreground, (short)background);
#endif
}

// One cell: the character and its combining marks, attributes and a colour pair.
static inline int strata_put(int y, int x, const wchar_t *text, attr_t attributes, int pair) {
  cchar_t cell;
#if STRATA_EXTENDED_PAIRS
  // The pair goes through the extended argument, since a short holds no more than 32,767.
  if (setcchar(&cell, text, attributes, (short)(pair > 32767 ? 0 : pair), &pair) == ERR) return ERR;
#else
  if (setcchar(&cell, text, attributes, (short)pair, NULL) == ERR) return ERR;
#endif
  return mvadd_wch(y, x, &cell);
}
#endif
