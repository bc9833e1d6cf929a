/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes each read of a database take 100 ms while the file that SLOW_DISK names exists. It is loaded
 * before the C library (LD_PRELOAD); everything else is read as fast as ever.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void wait_for_disk(int fd)
{
    char link[64], path[4096];
    const char *slow = getenv("SLOW_DISK");
    if (slow == NULL || access(slow, F_OK) != 0)
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return;
    path[length] = '\0';
    if (strstr(path, "/hwci.db") != NULL)
        nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, NULL);
}

ssize_t pread64(int fd, void *buffer, size_t size, off64_t offset)
{
    static ssize_t (*next)(int, void *, size_t, off64_t);
    if (next == NULL)
        next = (ssize_t (*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
    wait_for_disk(fd);
    return next(fd, buffer, size, offset);
}

ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
    return pread64(fd, buffer, size, offset);
}
