/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * resume.c -- see resume.h.
 */
#include "resume.h"

#include "jsonx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int bad(const char *path, const char *what)
{
    return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s: %s", path, what);
}

static json_t *find_by_id(const json_t *cells, const char *id)
{
    size_t index;
    json_t *cell;

    json_array_foreach((json_t *)(uintptr_t)cells, index, cell)
    {
        if (strcmp(sb_json_get_text(cell, "id", ""), id) == 0)
            return cell;
    }
    return NULL;
}

/* One line of a partial file; see result.c for what is written. */
static void take_line(json_t **documentp, const json_t *line)
{
    const char *kind = sb_json_get_text(line, "line", "");
    json_t *value;

    if (strcmp(kind, "campaign") == 0 && !*documentp) {
        value = json_object_get(line, "document");
        *documentp = json_is_object(value) ? json_incref(value) : NULL;
        return;
    }
    if (!*documentp)
        return;
    if (strcmp(kind, "member") == 0) {
        value = json_object_get(line, "value");
        if (value && json_object_get(line, "key"))
            (void)sb_json_take(*documentp, sb_json_get_text(line, "key", "?"), json_incref(value));
    } else if (strcmp(kind, "repeat") == 0) {
        json_t *cell =
            find_by_id(json_object_get(*documentp, "cells"), sb_json_get_text(line, "cell", ""));

        value = json_object_get(line, "repeat");
        if (json_is_array(json_object_get(cell, "repeats")) && json_is_object(value))
            sb_json_append_take(json_object_get(cell, "repeats"), json_incref(value));
    }
}

static int load_lines(FILE *file, json_t **documentp)
{
    char *text = NULL;
    size_t room = 0;

    while (getline(&text, &room, file) > 0) {
        json_t *line = json_loads(text, 0, NULL);

        if (!line)
            break; /* cut by the kill: nothing after it can be trusted */
        take_line(documentp, line);
        json_decref(line);
    }
    free(text);
    return *documentp ? 0 : -1;
}

int sb_resume_load(const char *path, json_t **documentp)
{
    FILE *file = fopen(path, "re");
    json_t *document = NULL;
    int rc = 0;

    *documentp = NULL;
    if (!file)
        return sb_error_errno(errno, "%s", path);
    document = json_loadf(file, 0, NULL);
    if (!document) {
        rewind(file);
        if (load_lines(file, &document))
            rc = bad(path, "neither a result file nor a partial one");
    }
    (void)fclose(file);
    if (!rc && strcmp(sb_json_get_text(document, "schema", ""), SB_RESULT_SCHEMA) != 0)
        rc = bad(path, "not a result of this version");
    if (!rc && sb_json_get_bool(document, "complete", false))
        rc = bad(path, "this campaign is complete: there is nothing to resume");
    if (!rc && !json_is_array(json_object_get(document, "command")))
        rc = bad(path, "has no 'command' to go on with");
    if (rc) {
        json_decref(document);
        return rc;
    }
    *documentp = document;
    return 0;
}

static int copy_cell(struct sb_result *result, json_t *cell, const json_t *from)
{
    size_t index;
    json_t *repeat;

    json_array_foreach(json_object_get(from, "repeats"), index, repeat)
    {
        const char *status = sb_json_get_text(repeat, "status", "");
        int rc;

        if (strcmp(status, "ok") != 0 && strcmp(status, "n/a") != 0)
            continue;
        rc = sb_result_add_repeat(result, cell, json_incref(repeat));
        if (rc)
            return rc;
    }
    sb_result_facts(cell, from);
    return 0;
}

int sb_resume_repeats(struct sb_result *result, const json_t *document)
{
    const json_t *cells = json_object_get(document, "cells");
    size_t index;
    json_t *cell;

    if (json_array_size(cells) != json_array_size(result->cells))
        return sb_error_set(SB_ERR_UNSUPPORTED, 0,
                            "cannot resume: the plan now has %zu cells, the file %zu: the suite or "
                            "the drivers changed",
                            json_array_size(result->cells), json_array_size(cells));
    json_array_foreach(result->cells, index, cell)
    {
        const json_t *from = find_by_id(cells, sb_json_get_text(cell, "id", ""));
        int rc;

        if (!from)
            return sb_error_set(SB_ERR_UNSUPPORTED, 0,
                                "cannot resume: the file has no cell '%s' of %s: the suite changed",
                                sb_json_get_text(cell, "scenario", ""),
                                sb_json_get_text(cell, "label", ""));
        rc = copy_cell(result, cell, from);
        if (rc)
            return rc;
    }
    return 0;
}

bool sb_resume_has(const struct sb_result *result, const struct sb_chain *chain, uint64_t block)
{
    for (size_t i = 0; i < chain->scenario_count; i++) {
        const json_t *cell = sb_result_cell(result, chain, i);
        bool found = false;
        size_t index;
        json_t *repeat;

        json_array_foreach(json_object_get(cell, "repeats"), index, repeat)
        {
            found = found || sb_json_get_u64(repeat, "block", 0) == block;
        }
        if (!found)
            return false;
    }
    return true;
}
