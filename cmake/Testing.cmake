# spindrift_test(<name> USES <layer>... [LIBS <lib>...] SOURCES <file>...)
# A Catch2 program build/<preset>/bin/<name>, registered with CTest as <name>.
# LABELS puts it into stages of tests/run; unit unless said otherwise.
function(spindrift_test name)
  cmake_parse_arguments(T "" "LABEL" "USES;LIBS;SOURCES;ARGS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  foreach(used IN LISTS T_USES)
    target_link_libraries(${name} PRIVATE spindrift_${used})
  endforeach()
  target_link_libraries(${name} PRIVATE spindrift_catch_main ${T_LIBS})
  add_test(NAME ${name} COMMAND ${name} ${T_ARGS})
  if(NOT T_LABEL)
    set(T_LABEL unit)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${T_LABEL} TIMEOUT 300)
endfunction()

# spindrift_script_test(<name> LABEL <label> SCRIPT <file.py> [TIMEOUT <seconds>] [ARGS <arg>...])
# A Python test program. It finds the command that this build made in the
# environment variable SPINDRIFT_BIN, says by exit status 77 that it cannot run
# here, and never shares the machine with another test.
function(spindrift_script_test name)
  cmake_parse_arguments(T "" "LABEL;SCRIPT;TIMEOUT" "ARGS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  add_test(NAME ${name} COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/${T_SCRIPT}" ${T_ARGS}
           WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS "${T_LABEL}" TIMEOUT ${T_TIMEOUT}
    SKIP_RETURN_CODE 77 RUN_SERIAL ON
    ENVIRONMENT "SPINDRIFT_BIN=${CMAKE_BINARY_DIR}/bin/spindrift;PYTHONDONTWRITEBYTECODE=1")
endfunction()
