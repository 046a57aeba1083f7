/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * command_probe.c -- `storebench probe`: what this machine is and what it can do without a store.
 */
#include "command.h"
#include "describe.h"
#include "error.h"
#include "jsonx.h"
#include "units.h"
#include "workdir.h"

#include <errno.h>
#include <string.h>

static const struct option options[] = {{"dir", required_argument, NULL, 1},
                                        {"json", required_argument, NULL, 1},
                                        {"help", no_argument, NULL, 1},
                                        {NULL, 0, NULL, 0}};

struct probe {
    struct sb_machine machine;
    struct sb_directory directory;
    struct sb_ceilings ceilings;
    struct sb_flush_ceilings flushes;
};

void sb_help_probe(FILE *stream)
{
    (void)fputs(
        "Usage: storebench probe [--dir=PATH] [--json=FILE|-]\n\n"
        "Shows the facts about this machine that every result carries, and its ceilings: the cost\n"
        "of the clock and of fresh memory, memory latency and bandwidth, and how often files in\n"
        "PATH (default: $STOREBENCH_DIR or /var/tmp) can be flushed. Takes about three seconds.\n",
        stream);
}

static int measure(struct probe *probe, const char *dir)
{
    struct sb_ceilings_plan plan = sb_ceilings_plan(false);

    sb_machine_read(&probe->machine);
    if (sb_directory_read(&probe->directory, dir))
        return sb_error_errno(errno, "directory %s", dir);
    if (sb_flush_ceilings_measure(&plan, dir, &probe->flushes))
        return sb_error_errno(errno, "cannot flush files in %s", dir);
    sb_ceilings_measure(&plan, &probe->ceilings);
    return 0;
}

static void print_flush(const char *way, const struct sb_flush_ceiling *ceiling)
{
    char rate[SB_FORMAT_BYTES];

    (void)printf("  %-22s %s\n", way, sb_format_rate(rate, sizeof(rate), ceiling->flushes_per_s));
}

static void print_probe(const struct probe *p)
{
    char a[SB_FORMAT_BYTES], b[SB_FORMAT_BYTES];

    (void)printf("machine %s\n", p->machine.fingerprint);
    (void)printf("  cpu                    %s, %u cores\n", p->machine.cpu_model,
                 p->machine.cores_online);
    (void)printf("  memory                 %s\n",
                 sb_format_bytes(a, sizeof(a), (double)p->machine.memory_bytes));
    (void)printf("  system                 %s, Linux %s\n", p->machine.os_name, p->machine.kernel);
    (void)printf("  virtualisation         %s\n", p->machine.virtualisation);
    (void)printf("  clock source           %s\n", p->machine.clock_source);
    (void)printf("  huge pages             %s\n\nceilings\n", p->machine.huge_pages);
    (void)printf("  reading the clock      %s (TSC %s)\n",
                 sb_format_duration(a, sizeof(a), p->ceilings.clock_read_ns),
                 sb_format_duration(b, sizeof(b), p->ceilings.tsc_read_ns));
    (void)printf("  first touch of a page  %s (at once again %s)\n",
                 sb_format_duration(a, sizeof(a), p->ceilings.first_touch_ns_per_page),
                 sb_format_duration(b, sizeof(b), p->ceilings.second_touch_ns_per_page));
    (void)printf("  dependent load         %s over %s\n",
                 sb_format_duration(a, sizeof(a), p->ceilings.memory_latency_ns),
                 sb_format_bytes(b, sizeof(b), (double)p->ceilings.memory_latency_bytes));
    (void)printf("  copying                %s/s\n\n",
                 sb_format_bytes(a, sizeof(a), p->ceilings.copy_bytes_per_s));
    (void)printf("directory %s\n  file system            %s on %s, write cache: %s%s\n",
                 p->directory.path, p->directory.filesystem, p->directory.device,
                 p->directory.write_cache,
                 p->directory.memory_backed ? " (in memory: flushes do nothing)" : "");
    (void)printf("  free                   %s\n",
                 sb_format_bytes(a, sizeof(a), (double)p->directory.free_bytes));
    print_flush("append + fdatasync", &p->flushes.append);
    print_flush("overwrite + fdatasync", &p->flushes.overwrite);
    print_flush("mapped + msync", &p->flushes.mapped);
}

static json_t *describe_probe(const struct probe *p)
{
    json_t *document = json_object();
    json_t *directory = sb_describe_directory(&p->directory);

    (void)sb_json_take(document, "storebench", sb_describe_program());
    (void)sb_json_take(document, "machine", sb_describe_machine(&p->machine));
    (void)sb_json_take(document, "ceilings", sb_describe_ceilings(&p->ceilings));
    (void)sb_json_take(directory, "flush_ceilings", sb_describe_flush_ceilings(&p->flushes));
    (void)sb_json_take(document, "directory", directory);
    return document;
}

int sb_command_probe(int argc, char **argv)
{
    const char *dir = sb_workdir_default();
    const char *json = NULL;
    struct probe probe = {0};
    json_t *document;
    int option, status;

    optind = 1;
    while ((option = sb_next_option(argc, argv, options)) >= 0) {
        if (option == 2) {
            sb_help_probe(stdout);
            return SB_EXIT_OK;
        }
        *(option == 0 ? &dir : &json) = optarg;
    }
    if (option == -2)
        return SB_EXIT_USAGE;
    if (optind < argc)
        return sb_no_arguments(argv[optind]);
    if (measure(&probe, dir))
        return sb_complain();
    if (!json) {
        print_probe(&probe);
        return SB_EXIT_OK;
    }
    document = describe_probe(&probe);
    status = sb_write_json(document, json);
    json_decref(document);
    return status;
}
