#ifndef STRATA_CNCURSES_H
#define STRATA_CNCURSES_H
#ifndef _XOPEN_SOURCE_EXTENDED
#define _XOPEN_SOURCE_EXTENDED 1
#endif
#ifndef NCURSES_WIDECHAR
#define NCURSES_WIDECHAR 1
#endif
#include <curses.h>
#include <locale.h>
#include <wchar.h>

// <wchar.h> hides wcwidth behind a feature macro that Swift's importer does not set.
extern int wcwidth(wchar_t c);

// A_BOLD and its kin are casts inside macros, which Swift does not import.
static const attr_t strata_attr_bold = A_BOLD;
static const attr_t strata_attr_dim = A_DIM;
static const attr_t strata_attr_underline = A_UNDERLINE;
static const attr_t strata_attr_reverse = A_REVERSE;
static const attr_t strata_attr_normal = A_NORMAL;

// COLORS and COLOR_PAIRS are variables that only exist after start_color.
static inline int strata_colors(void) { return COLORS; }
static inline int strata_color_pairs(void) { return COLOR_PAIRS; }

// One cell: the character and its combining marks, attributes and a colour pair. The pair goes
// through the extended argument, since a short holds no more than 32,767.
static inline int strata_put(int y, int x, const wchar_t *text, attr_t attributes, int pair) {
  cchar_t cell;
  if (setcchar(&cell, text, attributes, (short)(pair > 32767 ? 0 : pair), &pair) == ERR) return ERR;
  return mvadd_wch(y, x, &cell);
}
#endif
