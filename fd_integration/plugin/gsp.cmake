# Adds gsp(...) to Fast Downward's search, of the development head or of release 24.06. Without changing its sources:
#     cmake -DCMAKE_PROJECT_downward_INCLUDE=/path/to/gsp-fd/fd_integration/plugin/gsp.cmake ...
# or with the line include(/path/to/gsp-fd/fd_integration/plugin/gsp.cmake) at the end of src/search/CMakeLists.txt.
include(${CMAKE_CURRENT_LIST_DIR}/gsp_c.cmake)
set(GSP_PLUGIN_DIR ${CMAKE_CURRENT_LIST_DIR})

find_program(GSP_PYTHON NAMES python3 python DOC "Python in which gsp-fd is installed")

# An object library of its own: Fast Downward's files keep their flags, and the linker keeps the registration.
add_library(gsp_plugin OBJECT ${GSP_PLUGIN_DIR}/gsp_heuristic.cc ${GSP_PLUGIN_DIR}/state_values.cc)
target_include_directories(gsp_plugin PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(gsp_plugin PRIVATE "GSP_DEFAULT_PYTHON=\"${GSP_PYTHON}\"")
target_link_libraries(gsp_plugin PRIVATE common_cxx_flags gsp_c)

function(gsp_link_into_downward)
  target_sources(downward PRIVATE $<TARGET_OBJECTS:gsp_plugin>)
  # By its file: linking the target would add its include folder to the flags of Fast Downward's own files.
  target_link_libraries(downward PRIVATE $<TARGET_FILE:gsp_c>)
  add_dependencies(downward gsp_c)
endfunction()

if(TARGET downward)
  gsp_link_into_downward()
elseif(CMAKE_VERSION VERSION_LESS 3.19)
  message(FATAL_ERROR "gsp: this CMake is older than 3.19; include gsp.cmake from src/search/CMakeLists.txt instead")
else()
  cmake_language(DEFER CALL gsp_link_into_downward)
endif()
