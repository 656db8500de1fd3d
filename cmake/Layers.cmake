# The floors of the house, made a compile-time rule.
#
# A layer's headers are included as "<folder>/<file>.h". No target ever has the
# repository root on its include path. Instead each layer gets an include root
# of its own, build/roots/<layer>/, that holds nothing but a link to its folder,
# and a target sees the roots of exactly the layers that it names in USES (and
# of what those use, which are lower floors still).
#
#   spindrift_layer(<name> DIR <folder> USES <layer>... [LIBS <lib>...] SOURCES <file>...)
#
# DIR is relative to the top; HEADERS restricts the root to single files, for
# the rail port, which shares its folder with the backends.

set(SPINDRIFT_ROOTS "${CMAKE_BINARY_DIR}/roots")

function(spindrift_link_root name dir)
  get_filename_component(parent "${SPINDRIFT_ROOTS}/${name}/${dir}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${dir}" "${SPINDRIFT_ROOTS}/${name}/${dir}" SYMBOLIC)
endfunction()

# What tests/lint checks: the layer's headers and, once all targets are known,
# the include roots that its users see.
function(spindrift_record_layer name dir headers)
  if(headers)
    list(TRANSFORM headers PREPEND "${dir}/")
  else()
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
         "${PROJECT_SOURCE_DIR}/${dir}/*.h")
  endif()
  set_property(GLOBAL APPEND PROPERTY SPINDRIFT_LAYERS "${name}")
  set_property(GLOBAL PROPERTY SPINDRIFT_LAYER_HEADERS_${name} "${headers}")
endfunction()

function(spindrift_layer name)
  cmake_parse_arguments(L "" "DIR" "USES;LIBS;SOURCES;HEADERS" ${ARGN})
  set(target spindrift_${name})
  if(L_HEADERS)
    foreach(header IN LISTS L_HEADERS)
      spindrift_link_root(${name} "${L_DIR}/${header}")
    endforeach()
  else()
    spindrift_link_root(${name} "${L_DIR}")
  endif()

  if(L_SOURCES)
    add_library(${target} STATIC ${L_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} "${SPINDRIFT_ROOTS}/${name}")
  spindrift_record_layer(${name} "${L_DIR}" "${L_HEADERS}")
  foreach(used IN LISTS L_USES)
    target_link_libraries(${target} ${scope} spindrift_${used})
  endforeach()
  if(L_LIBS AND L_SOURCES)
    # Vendor libraries stay inside the layer's .cc files.
    target_link_libraries(${target} PRIVATE ${L_LIBS})
  endif()
endfunction()
