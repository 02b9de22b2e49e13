#include "core/bare_runner/sensors.h"

#include <stddef.h>
#include <string.h>

#include "core/bare_runner/system.h"

#define PATH_BYTES 512
#define CURRENT_FOLDER (-100) /* AT_FDCWD */
#define READ_ONLY 02000000    /* O_RDONLY | O_CLOEXEC, wherever there is a bare runner. */
/* What no sensor that works says, thousandths of a degree Celsius. */
#define COLDEST (-100000)
#define HOTTEST 300000

/* Appends to the text that `path` has; what does not fit leaves it without a meaning, and the file is not found. */
static void append(char* path, const char* more) {
  size_t at = 0;
  while (path[at] != 0) ++at;
  for (; at + 1 < PATH_BYTES && *more != 0; ++at) path[at] = *more++;
  path[at] = 0;
}

/* Below 100. */
static int open_numbered(const char* root, const char* before, int number, const char* behind) {
  char path[PATH_BYTES] = "";
  const char digits[] = {(char)('0' + number / 10), (char)('0' + number % 10), 0};
  append(path, root);
  append(path, before);
  append(path, number < 10 ? digits + 1 : digits);
  append(path, behind);
  const long file = BARE_CALL4(__NR_openat, CURRENT_FOLDER, path, READ_ONLY, 0);
  return file < 0 ? -1 : (int)file;
}

void bare_open_sensors(const char* root, bare_sensors* sensors) {
  for (int i = 0; i < BARE_MAX_CLOCKS; ++i) {
    sensors->clocks[i] =
        open_numbered(root, "/sys/devices/system/cpu/cpu", i, "/cpufreq/scaling_cur_freq");
    sensors->governors[i] =
        open_numbered(root, "/sys/devices/system/cpu/cpu", i, "/cpufreq/scaling_governor");
  }
  for (int i = 0; i < BARE_MAX_ZONES; ++i) {
    sensors->zones[i] = open_numbered(root, "/sys/class/thermal/thermal_zone", i, "/temp");
  }
}

/* The file's text without what ends its line; empty where there is none. The rest of `text` is zero. */
static void read_text(int file, char* text, size_t room) {
  memset(text, 0, room);
  if (file < 0) return;
  /* The last three are the offset, 0, however a machine passes it. */
  const long got = bare_call(__NR_pread64, file, (long)(uintptr_t)text, (long)room - 1, 0, 0, 0);
  for (long i = got < 0 ? 0 : got; i > 0; --i) {
    if (text[i - 1] != '\n' && text[i - 1] != ' ') break;
    text[i - 1] = 0;
  }
}

/* 0 where the file has no number, or one of more than 15 digits. */
static int64_t read_number(int file) {
  char text[32];
  read_text(file, text, sizeof(text));
  const int is_below = text[0] == '-';
  int64_t number = 0;
  int digits = 0;
  for (const char* at = text + is_below; *at != 0; ++at, ++digits) {
    if (*at < '0' || *at > '9' || digits == 15) return 0;
    number = number * 10 + (*at - '0');
  }
  return is_below ? -number : number;
}

void bare_read_sensors(const bare_sensors* sensors, uint32_t processor, slipway_bare_state* state) {
  memset(state, 0, sizeof(*state));
  if (processor < BARE_MAX_CLOCKS) {
    const int64_t khz = read_number(sensors->clocks[processor]);
    if (khz > 0) state->frequency_khz = (uint64_t)khz;
    read_text(sensors->governors[processor], state->governor, sizeof(state->governor));
  }
  for (int i = 0; i < BARE_MAX_ZONES; ++i) {
    if (sensors->zones[i] < 0) continue;
    const int64_t heat = read_number(sensors->zones[i]);
    if (heat >= COLDEST && heat <= HOTTEST && heat > state->temperature_millicelsius) {
      state->temperature_millicelsius = heat;
    }
  }
}
