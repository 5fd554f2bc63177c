/* Devices and transforms on them as a C program calls them: mpirun -n 3 test_c_device, or test_c_device alone. On a
 * system without a device it tests what is said there. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/c/checks.h"
#include "tests/c/waves.h"

enum { OFFSET_BYTES = 512 };

/* Device memory, and a location within it. */
typedef struct array {
  penstock_device_memory* memory;
  penstock_location location;
} array;

static array allocate(const penstock_device* device, size_t bytes) {
  array made = {NULL, {0, 0}};
  check(penstock_device_memory_create(device, OFFSET_BYTES + bytes, &made.memory), "device memory");
  made.location = penstock_device_memory_location(made.memory);
  made.location.offset += OFFSET_BYTES;
  return made;
}

static void describe_devices(penstock_team* team, size_t count) {
  penstock_device_properties* const all = calloc(count, sizeof(*all));
  size_t again = 0;
  check(penstock_device_list(all, count, &again), "a list of devices");
  expect(again == count, "as many devices as before");
  for (size_t i = 0; i < count; ++i) {
    char selector[32];
    snprintf(selector, sizeof(selector), "%s:%d", all[i].interface == PENSTOCK_CUDA ? "cuda" : "opencl", all[i].number);
    penstock_device* device = NULL;
    check(penstock_device_open(team, selector, &device), selector);
    const penstock_device_properties opened = penstock_device_describe(device);
    expect(opened.interface == all[i].interface && opened.number == all[i].number, "the device that was named");
    expect(strcmp(opened.name, all[i].name) == 0 && strlen(opened.name) > 0, "its name");
    uint64_t bytes = 0;
    check(penstock_device_available_bytes(device, &bytes), "the memory that is free");
    expect(bytes > 0 && bytes <= opened.memory_bytes, "as much memory as there is");
    check(penstock_device_destroy(device), "destroy a device");
  }
  free(all);
}

static void copy_there_and_back(penstock_device* device) {
  array there = allocate(device, 64);
  double numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  double back[8] = {0};
  check(penstock_copy_to_device(device, there.location, numbers, sizeof(numbers)), "a copy to the device");
  penstock_location half = there.location;
  half.offset += 32;
  check(penstock_copy_to_host(device, back, half, 32), "a copy to the host");
  expect(back[0] == 5 && back[3] == 8 && back[4] == 0, "the half that was copied");
  check(penstock_copy_to_host(device, NULL, half, 0), "a copy of nothing");
  expect_failure(penstock_copy_to_host(device, NULL, half, 8), "NULL", "a copy to nowhere");
  expect_failure(penstock_copy_to_device(device, (penstock_location){0, 0}, numbers, 8), "NULL", "a copy to no handle");
  check(penstock_device_memory_destroy(there.memory), "destroy device memory");
  penstock_device_memory* all = NULL;
  expect_failure(penstock_device_memory_create(device, (uint64_t)1 << 50, &all), "no room", "more than a device has");
}

/* Forward and back in device memory, and then with arrays of the host. */
static void transform_waves(penstock_team* team, penstock_device* device, penstock_fft_type type) {
  penstock_fft_options options;
  PENSTOCK_FFT_OPTIONS_INIT(&options);
  options.size[0] = 12;
  options.size[1] = 10;
  options.size[2] = 14;
  options.type = type;
  options.batch = 2;
  penstock_fft_plan* plan = NULL;
  check(penstock_fft_plan_create_on_device(team, device, &options, &plan), "a plan on a device");
  const size_t points = (size_t)penstock_fft_input_elements(plan) * (type == PENSTOCK_C2C ? 2 : 1);
  const size_t waves = (size_t)penstock_fft_output_elements(plan);
  double* const field = calloc(points + 1, sizeof(double));
  double* const again = calloc(points + 1, sizeof(double));
  double complex* const spectrum = calloc(waves + 1, sizeof(double complex));
  fill_waves(&options, plan, field);
  for (int is_on_host = 0; is_on_host < 2; ++is_on_host) {
    if (is_on_host) {
      check(penstock_fft_forward(plan, field, spectrum, PENSTOCK_FULL), "forward from the host");
      expect(wave_error(&options, plan, spectrum) < 1e-14, "the spectrum of waves of the host");
      check(penstock_fft_backward(plan, spectrum, again, PENSTOCK_NO_SCALING), "backward to the host");
    } else {
      array in = allocate(device, points * sizeof(double));
      array out = allocate(device, waves * sizeof(double complex));
      check(penstock_copy_to_device(device, in.location, field, points * sizeof(double)), "upload");
      check(penstock_fft_forward_on_device(plan, in.location, out.location, PENSTOCK_FULL), "forward on the device");
      check(penstock_copy_to_host(device, spectrum, out.location, waves * sizeof(double complex)), "download");
      expect(wave_error(&options, plan, spectrum) < 1e-14, "the spectrum of waves on the device");
      check(penstock_fft_backward_on_device(plan, out.location, in.location, PENSTOCK_NO_SCALING), "backward there");
      check(penstock_copy_to_host(device, again, in.location, points * sizeof(double)), "download");
      check(penstock_device_memory_destroy(in.memory), "destroy the field");
      check(penstock_device_memory_destroy(out.memory), "destroy the spectrum");
    }
    double worst = 0;
    for (size_t i = 0; i < points; ++i) {
      worst = fabs(again[i] - field[i]) > worst ? fabs(again[i] - field[i]) : worst;
      again[i] = 0;
    }
    expect(worst < 1e-13, "what comes back");
    memset(spectrum, 0, waves * sizeof(double complex));
  }
  expect(penstock_fft_last_times(plan).total_s > 0, "the time of a transform");
  expect(penstock_fft_input_array(plan) == NULL, "no arrays of the plan's own");
  check(penstock_fft_plan_destroy(plan), "destroy a plan");
  free(field);
  free(again);
  free(spectrum);
}

static int ignore(int64_t first, int64_t second, void* row, size_t elements, void* data) {
  (void)first;
  (void)second;
  (void)row;
  (void)elements;
  (void)data;
  return 0;
}

static void refuse_what_cannot_be(penstock_team* team, penstock_device* device) {
  penstock_device* other = NULL;
  const int is_bad = my_rank == penstock_team_size(team) - 1;
  expect_failure(penstock_device_open(team, is_bad ? "opencl:99" : "any", &other), "opencl:99", "no such device");
  expect_failure(penstock_device_open(team, is_bad ? NULL : "any", &other), "NULL", "no selector");
  expect_failure(penstock_device_open_opencl(NULL, NULL, &other), "cl_context", "no context");
  expect(other == NULL, "a device where there is none");
  penstock_fft_options options;
  PENSTOCK_FFT_OPTIONS_INIT(&options);
  options.size[0] = options.size[1] = options.size[2] = 8;
  penstock_fft_plan* plan = NULL;
  expect_failure(penstock_fft_plan_create_on_device(team, is_bad ? NULL : device, &options, &plan), "needs a device",
                 "a plan on no device");
  options.type = PENSTOCK_R2R;
  expect_failure(penstock_fft_plan_create_on_device(team, device, &options, &plan), "plan for the processor",
                 "cosines on a device");
  options.type = PENSTOCK_C2C;
  double complex numbers[512];
  const penstock_location location = {(uint64_t)(uintptr_t)numbers, 0};
  check(penstock_fft_plan_create(team, &options, &plan), "a plan of the processor");
  expect_failure(penstock_fft_forward_on_device(plan, location, location, PENSTOCK_FULL), "not on a device",
                 "device memory for the processor");
  check(penstock_fft_plan_destroy(plan), "destroy a plan");
  check(penstock_fft_plan_create_on_device(team, device, &options, &plan), "a plan on a device");
  penstock_fft_execution* execution = NULL;
  expect_failure(penstock_fft_start_forward(plan, numbers, numbers, PENSTOCK_FULL, &execution), "on a device",
                 "an execution on a device");
  expect_failure(penstock_fft_convolve(plan, numbers, numbers, ignore, NULL, PENSTOCK_FULL), "on a device",
                 "a convolution on a device");
  expect_failure(penstock_fft_collocate(plan, numbers, numbers, ignore, NULL, PENSTOCK_FULL), "on a device",
                 "a collocation on a device");
  check(penstock_fft_plan_destroy(plan), "destroy a plan");
}

/* One rank's mistake fails on all of them, now or at the next call. */
static void fail_with_one_bad_rank(penstock_team* team, penstock_device* device, int has_bad_scaling) {
  const int is_bad = my_rank == penstock_team_size(team) - 1;
  penstock_fft_options options;
  PENSTOCK_FFT_OPTIONS_INIT(&options);
  options.size[0] = options.size[1] = options.size[2] = 16;
  penstock_fft_plan* plan = NULL;
  check(penstock_fft_plan_create_on_device(team, device, &options, &plan), "a plan on a device");
  array memory = allocate(device, (size_t)penstock_fft_input_elements(plan) * sizeof(double complex));
  const penstock_location none = {0, 0};
  penstock_status status = penstock_fft_forward_on_device(
      plan, is_bad && !has_bad_scaling ? none : memory.location, memory.location, is_bad && has_bad_scaling ? 7 : 0);
  if (is_bad) {
    expect_failure(status, has_bad_scaling ? "scaling" : "NULL", "a mistake of this rank");
  }
  if (status == PENSTOCK_OK) {
    status = penstock_fft_forward_on_device(plan, memory.location, memory.location, PENSTOCK_NO_SCALING);
  }
  expect(status == PENSTOCK_ERROR, "one rank's mistake");
  check(penstock_fft_plan_destroy(plan), "destroy a plan");
  check(penstock_device_memory_destroy(memory.memory), "destroy device memory");
}

int main(int argc, char** argv) {
  penstock_team* const team = begin_ranks(argc, argv);
  size_t count = 0;
  check(penstock_device_list(NULL, 0, &count), "the number of devices");
  penstock_device* device = NULL;
  if (count == 0) {
    expect_failure(penstock_device_open(team, "any", &device), "has no device", "a system without a device");
    printf("this system has no device: nothing was transformed\n");
    return end_ranks(team);
  }
  describe_devices(team, count);
  check(penstock_device_open(team, "any", &device), "any device");
  copy_there_and_back(device);
  transform_waves(team, device, PENSTOCK_C2C);
  transform_waves(team, device, PENSTOCK_R2C);
  refuse_what_cannot_be(team, device);
  fail_with_one_bad_rank(team, device, 0);
  fail_with_one_bad_rank(team, device, 1);
  check(penstock_device_destroy(device), "destroy a device");
  return end_ranks(team);
}
