/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * describe.c -- see describe.h.
 */
#include "describe.h"

#include "buildinfo.h"
#include "jsonx.h"

json_t *sb_describe_machine(const struct sb_machine *m)
{
    json_t *o = json_object();

    sb_json_text(o, "fingerprint", m->fingerprint);
    sb_json_text(o, "cpu_model", m->cpu_model);
    sb_json_text(o, "architecture", m->architecture);
    sb_json_text(o, "microcode", m->microcode);
    sb_json_u64(o, "cores_online", m->cores_online);
    sb_json_u64(o, "cores_usable", m->cores_usable);
    sb_json_bool(o, "constant_tsc", m->constant_tsc);
    sb_json_bool(o, "nonstop_tsc", m->nonstop_tsc);
    sb_json_u64(o, "memory_bytes", m->memory_bytes);
    sb_json_u64(o, "cgroup_memory_bytes", m->cgroup_memory_bytes);
    sb_json_u64(o, "page_bytes", m->page_bytes);
    sb_json_text(o, "kernel", m->kernel);
    sb_json_text(o, "os_name", m->os_name);
    sb_json_bool(o, "hypervisor", m->hypervisor);
    sb_json_text(o, "virtualisation", m->virtualisation);
    sb_json_text(o, "dmi_product", m->dmi_product);
    sb_json_text(o, "clock_source", m->clock_source);
    sb_json_text(o, "huge_pages", m->huge_pages);
    sb_json_text(o, "governor", m->governor);
    sb_json_text(o, "boot_id", m->boot_id);
    sb_json_real(o, "load_average_1min", m->load_average_1min);
    sb_json_real(o, "load_average_5min", m->load_average_5min);
    sb_json_real(o, "load_average_15min", m->load_average_15min);
    return o;
}

json_t *sb_describe_directory(const struct sb_directory *d)
{
    json_t *o = json_object();

    sb_json_text(o, "path", d->path);
    sb_json_text(o, "filesystem", d->filesystem);
    sb_json_text(o, "mount_point", d->mount_point);
    sb_json_text(o, "mount_options", d->mount_options);
    sb_json_text(o, "filesystem_options", d->filesystem_options);
    sb_json_text(o, "device", d->device);
    sb_json_text(o, "block_device", d->block_device);
    sb_json_text(o, "write_cache", d->write_cache);
    sb_json_take(o, "rotational", d->rotational < 0 ? json_null() : json_boolean(d->rotational));
    sb_json_text(o, "scheduler", d->scheduler);
    sb_json_u64(o, "block_bytes", d->block_bytes);
    sb_json_u64(o, "total_bytes", d->total_bytes);
    sb_json_u64(o, "free_bytes", d->free_bytes);
    sb_json_u64(o, "free_inodes", d->free_inodes);
    sb_json_bool(o, "memory_backed", d->memory_backed);
    return o;
}

json_t *sb_describe_ceilings(const struct sb_ceilings *c)
{
    json_t *o = json_object();

    sb_json_real(o, "clock_read_ns", c->clock_read_ns);
    sb_json_real(o, "tsc_read_ns", c->tsc_read_ns);
    sb_json_u64(o, "touch_bytes", c->touch_bytes);
    sb_json_real(o, "first_touch_ns_per_page_initial", c->first_touch_ns_per_page_initial);
    sb_json_real(o, "first_touch_ns_per_page", c->first_touch_ns_per_page);
    sb_json_real(o, "second_touch_ns_per_page", c->second_touch_ns_per_page);
    sb_json_u64(o, "memory_latency_bytes", c->memory_latency_bytes);
    sb_json_real(o, "memory_latency_ns", c->memory_latency_ns);
    sb_json_u64(o, "copy_bytes", c->copy_bytes);
    sb_json_real(o, "copy_bytes_per_s", c->copy_bytes_per_s);
    return o;
}

static json_t *describe_flush(const struct sb_flush_ceiling *c)
{
    json_t *o = json_object();

    sb_json_u64(o, "flushes", c->flushes);
    sb_json_u64(o, "elapsed_ns", c->elapsed_ns);
    sb_json_real(o, "flushes_per_s", c->flushes_per_s);
    sb_json_u64(o, "errno", (uint64_t)c->error_number);
    return o;
}

json_t *sb_describe_flush_ceilings(const struct sb_flush_ceilings *c)
{
    json_t *o = json_object();

    sb_json_u64(o, "record_bytes", c->record_bytes);
    sb_json_take(o, "append", describe_flush(&c->append));
    sb_json_take(o, "overwrite", describe_flush(&c->overwrite));
    sb_json_take(o, "mapped", describe_flush(&c->mapped));
    return o;
}

json_t *sb_describe_program(void)
{
    json_t *o = json_object();

    sb_json_text(o, "version", SB_VERSION);
    sb_json_text(o, "git", SB_GIT);
    sb_json_text(o, "compiler", SB_COMPILER);
    sb_json_text(o, "flags", SB_CFLAGS);
#ifdef SB_STATIC_DRIVERS
    sb_json_text(o, "drivers", "static");
#else
    sb_json_text(o, "drivers", "modules");
#endif
    return o;
}
