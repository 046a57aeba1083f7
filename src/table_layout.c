/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table_layout.c -- see table_layout.h. UTF-8 is read here rather than by the C library, whose view
 * depends on the locale: the same result prints the same everywhere.
 */
#include "table_layout.h"

#include "mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    TERMINAL_WIDTH_MIN = 80,
    TERMINAL_WIDTH_MAX = 10000, /* beyond that COLUMNS is not a width */
    COLUMN_GAP = 2,
};

static const uint32_t bad_character = 0xfffd;

/* ---- characters --------------------------------------------------------------------------- */

struct range {
    uint32_t first, last;
};

static bool in_ranges(const struct range *ranges, size_t count, uint32_t c)
{
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

/* Controls, and characters that are not seen but change the order of what is. */
static bool is_hostile(uint32_t c)
{
    static const struct range ranges[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},
                                          {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
                                          {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};

    return in_ranges(ranges, sizeof(ranges) / sizeof(ranges[0]), c);
}

/* The common combining and double-width ranges; enough to keep columns straight. */
static size_t character_width(uint32_t c)
{
    static const struct range combining[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},
                                             {0x1ab0, 0x1aff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
                                             {0xfe20, 0xfe2f}};
    static const struct range wide[] = {{0x1100, 0x115f},  {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                                        {0xf900, 0xfaff},  {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                        {0xffe0, 0xffe6},  {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff},
                                        {0x20000, 0x3fffd}};

    if (in_ranges(combining, sizeof(combining) / sizeof(combining[0]), c))
        return 0;
    return in_ranges(wide, sizeof(wide) / sizeof(wide[0]), c) ? 2 : 1;
}

/* The character at *textp, which moves behind it. A byte that begins none is a bad character. */
static uint32_t next_character(const char **textp)
{
    const unsigned char *bytes = (const unsigned char *)*textp;
    size_t more = bytes[0] >= 0xf0 ? 3 : bytes[0] >= 0xe0 ? 2 : bytes[0] >= 0xc2 ? 1 : 0;
    uint32_t c = bytes[0] & (more ? 0x3fu >> more : 0x7fu);

    for (size_t i = 1; i <= more; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            more = 0;
            break;
        }
        c = c << 6 | (bytes[i] & 0x3fu);
    }
    *textp += more + 1;
    return bytes[0] >= 0x80 && !more ? bad_character : c;
}

size_t sb_text_width(const char *text)
{
    size_t width = 0;

    while (*text)
        width += character_width(next_character(&text));
    return width;
}

char *sb_text_clean(const char *text, size_t width_max)
{
    char *clean = sb_alloc(strlen(text) + sizeof("…"), 1);
    size_t used = 0, width = 0, last = 0;

    while (*text) {
        const char *begin = text;
        uint32_t c = next_character(&text);
        size_t bytes = (size_t)(text - begin);
        /* Marks that pile up on one character count too, or they would never end. */
        size_t adds = character_width(c) ? character_width(c) : 1;

        if (width + adds > width_max) {
            memcpy(clean + last, "…", sizeof("…"));
            return clean;
        }
        width += adds;
        if (width < width_max)
            last = used + (is_hostile(c) || c == bad_character ? 1 : bytes);
        if (c == '\n' || c == '\t' || c == '\r')
            clean[used++] = ' ';
        else if (is_hostile(c) || c == bad_character)
            clean[used++] = '?';
        else {
            memcpy(clean + used, begin, bytes);
            used += bytes;
        }
    }
    clean[used] = '\0';
    return clean;
}

/* ---- style -------------------------------------------------------------------------------- */

static size_t terminal_width(int fd)
{
    const char *columns = getenv("COLUMNS");
    unsigned long wanted = columns ? strtoul(columns, NULL, 10) : 0;
    struct winsize size;

    if (!wanted || wanted > TERMINAL_WIDTH_MAX)
        wanted = ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    return wanted > TERMINAL_WIDTH_MIN ? wanted : TERMINAL_WIDTH_MIN;
}

void sb_text_style_init(struct sb_text_style *style, FILE *stream)
{
    const char *no_color = getenv("NO_COLOR");
    int fd = fileno(stream);

    *style = (struct sb_text_style){0};
    if (fd < 0 || !isatty(fd))
        return;
    style->width = terminal_width(fd);
    style->bold = !no_color || !*no_color;
}

/* ---- printing ----------------------------------------------------------------------------- */

static void print_spaces(FILE *stream, size_t count)
{
    (void)fprintf(stream, "%*s", (int)count, "");
}

void sb_text_print(FILE *stream, const struct sb_text_style *style, const char *lead,
                   const char *text)
{
    size_t indent = sb_text_width(lead), used = indent;
    bool line_begins = true;

    (void)fputs(lead, stream);
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t bytes = strcspn(text, " ");
        char *word = sb_format("%.*s", (int)bytes, text);
        size_t width = sb_text_width(word);

        if (!line_begins && style->width && used + 1 + width > style->width) {
            (void)fputc('\n', stream);
            print_spaces(stream, indent);
            used = indent;
            line_begins = true;
        }
        (void)fprintf(stream, "%s%s", line_begins ? "" : " ", word);
        used += width + !line_begins;
        line_begins = false;
        free(word);
        text += bytes;
    }
    (void)fputc('\n', stream);
}

/* ---- grids -------------------------------------------------------------------------------- */

void sb_grid_init(struct sb_grid *grid, size_t column_count, size_t row_count)
{
    *grid = (struct sb_grid){.columns = sb_alloc(column_count, sizeof(*grid->columns)),
                             .cells = sb_alloc(column_count * row_count, sizeof(*grid->cells)),
                             .column_count = column_count,
                             .row_count = row_count};
}

void sb_grid_release(struct sb_grid *grid)
{
    for (size_t i = 0; i < grid->column_count; i++)
        for (size_t line = 0; line < SB_GRID_HEADS; line++)
            free(grid->columns[i].heads[line]);
    for (size_t i = 0; i < grid->column_count * grid->row_count; i++)
        for (size_t part = 0; part < SB_GRID_PARTS; part++)
            free(grid->cells[i].parts[part]);
    free(grid->columns);
    free(grid->cells);
    *grid = (struct sb_grid){0};
}

struct sb_grid_cell *sb_grid_at(const struct sb_grid *grid, size_t row, size_t column)
{
    return &grid->cells[row * grid->column_count + column];
}

void sb_grid_head(struct sb_grid *grid, size_t column, size_t line, char *text_take)
{
    free(grid->columns[column].heads[line]);
    grid->columns[column].heads[line] = text_take;
}

void sb_grid_put(struct sb_grid_cell *cell, enum sb_grid_part part, char *text_take)
{
    free(cell->parts[part]);
    cell->parts[part] = text_take;
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

/* What stands between a part and the one before it. */
static size_t part_gap(size_t part)
{
    return part == SB_GRID_SPREAD || part == SB_GRID_FLAGS;
}

static void measure_column(struct sb_grid *grid, size_t index)
{
    struct sb_grid_column *column = &grid->columns[index];

    for (size_t row = 0; row < grid->row_count; row++) {
        struct sb_grid_cell *cell = sb_grid_at(grid, row, index);

        if (!cell->parts[SB_GRID_FIGURE])
            cell->parts[SB_GRID_FIGURE] = sb_format("-");
        for (size_t part = 0; part < SB_GRID_PARTS; part++) {
            size_t width = sb_text_width(text_of(cell->parts[part]));

            if (width > column->part_widths[part])
                column->part_widths[part] = width;
        }
    }
    for (size_t part = 0; part < SB_GRID_PARTS; part++)
        if (column->part_widths[part])
            column->width += column->part_widths[part] + part_gap(part);
    for (size_t line = 0; line < SB_GRID_HEADS; line++) {
        size_t width = sb_text_width(text_of(column->heads[line]));

        if (width > column->width)
            column->width = width;
    }
}

/* A row of a page is put together here; spaces are only written when something follows them. */
struct line {
    FILE *stream;
    size_t pending;
};

static void line_text(struct line *line, const char *text, bool bold)
{
    if (!*text)
        return;
    print_spaces(line->stream, line->pending);
    line->pending = 0;
    (void)fprintf(line->stream, bold ? "\033[1m%s\033[0m" : "%s", text);
}

static void line_end(struct line *line)
{
    (void)fputc('\n', line->stream);
    line->pending = 0;
}

static void print_cell(struct line *line, const struct sb_grid_column *column,
                       const struct sb_grid_cell *cell)
{
    size_t used = 0;

    for (size_t part = 0; part < SB_GRID_PARTS; part++) {
        const char *text = text_of(cell->parts[part]);
        size_t room = column->part_widths[part];
        size_t fill = room - sb_text_width(text);
        bool right = part == SB_GRID_FIGURE && !column->left;

        if (!room)
            continue;
        line->pending += part_gap(part) + (right ? fill : 0);
        line_text(line, text, cell->bold && part == SB_GRID_FIGURE);
        line->pending += right ? 0 : fill;
        used += part_gap(part) + room;
    }
    line->pending += column->width - used;
}

static void print_text_cell(struct line *line, const struct sb_grid_column *column,
                            const char *text)
{
    line_text(line, text, false);
    line->pending += column->width - sb_text_width(text);
}

static void print_dashes(struct line *line, const struct sb_grid_column *column)
{
    char *dashes = sb_alloc(column->width + 1, 1);

    memset(dashes, '-', column->width);
    line_text(line, dashes, false);
    free(dashes);
}

/* The columns of a page: the leading ones, then those from `first` to before `end`. */
struct page {
    const struct sb_grid *grid;
    size_t first, end;
};

/* The next column of the page after `column`, or its end. */
static size_t page_next(const struct page *page, size_t column)
{
    return column + 1 == page->grid->lead ? page->first : column + 1;
}

enum { ROW_DASHES = -1, ROW_HEADS = -SB_GRID_HEADS - 1 };

/* Rows below 0 are the lines of the head. */
static void print_row(struct line *line, const struct page *page, long row)
{
    const struct sb_grid *grid = page->grid;

    for (size_t i = grid->lead ? 0 : page->first; i < page->end; i = page_next(page, i)) {
        const struct sb_grid_column *column = &grid->columns[i];

        if (row >= 0)
            print_cell(line, column, sb_grid_at(grid, (size_t)row, i));
        else if (row == ROW_DASHES)
            print_dashes(line, column);
        else
            print_text_cell(line, column, text_of(column->heads[row - ROW_HEADS]));
        line->pending += COLUMN_GAP;
    }
    line_end(line);
}

static bool head_line_empty(const struct page *page, size_t line)
{
    for (size_t i = 0; i < page->grid->column_count; i++)
        if (page->grid->columns[i].heads[line] && *page->grid->columns[i].heads[line])
            return false;
    return true;
}

static void print_page(FILE *stream, const struct page *page)
{
    struct line line = {.stream = stream};

    for (size_t i = 0; i < SB_GRID_HEADS; i++)
        if (!head_line_empty(page, i))
            print_row(&line, page, (long)i + ROW_HEADS);
    print_row(&line, page, ROW_DASHES);
    for (size_t row = 0; row < page->grid->row_count; row++)
        print_row(&line, page, (long)row);
}

/* The end of the page that begins with column `first`: as many as fit, at least one with those
 * joined to it. */
static size_t page_end(const struct sb_grid *grid, size_t first, size_t room)
{
    size_t end = first, used = 0;

    while (end < grid->column_count) {
        size_t next = end, width = 0;

        do
            width += grid->columns[next++].width + COLUMN_GAP;
        while (next < grid->column_count && grid->columns[next].joined);
        if (end > first && used + width > room)
            break;
        used += width;
        end = next;
    }
    return end;
}

void sb_grid_print(struct sb_grid *grid, FILE *stream, const struct sb_text_style *style)
{
    size_t room = style->width ? style->width + COLUMN_GAP : SIZE_MAX;
    struct page page = {.grid = grid, .first = grid->lead};

    for (size_t i = 0; i < grid->column_count; i++)
        measure_column(grid, i);
    for (size_t i = 0; i < grid->lead && room != SIZE_MAX; i++) {
        size_t width = grid->columns[i].width + COLUMN_GAP;

        room = room > width ? room - width : 0;
    }
    do {
        page.end = page_end(grid, page.first, room);
        if (page.first > grid->lead)
            (void)fputc('\n', stream);
        print_page(stream, &page);
        page.first = page.end;
    } while (page.first < grid->column_count);
}
