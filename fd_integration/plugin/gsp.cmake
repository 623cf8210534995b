# Adds gsp(...) to Fast Downward's search, of the development head or of release 24.06. Without changing its sources:
#     cmake -DCMAKE_PROJECT_downward_INCLUDE=/path/to/gsp-fd/fd_integration/plugin/gsp.cmake ...
# or with the line include(/path/to/gsp-fd/fd_integration/plugin/gsp.cmake) at the end of src/search/CMakeLists.txt.
include(${CMAKE_CURRENT_LIST_DIR}/gsp_c.cmake)
set(GSP_PLUGIN_DIR ${CMAKE_CURRENT_LIST_DIR})

find_path(GSP_ONNXRUNTIME_INCLUDE onnxruntime_c_api.h PATH_SUFFIXES onnxruntime onnxruntime/core/session
  DOC "folder with onnxruntime_c_api.h")
if(NOT GSP_ONNXRUNTIME_INCLUDE)
  message(FATAL_ERROR "gsp: found no onnxruntime_c_api.h; say -DGSP_ONNXRUNTIME_INCLUDE=FOLDER "
    "(${GSP_PLUGIN_DIR}/README.md says where to get it)")
endif()
find_program(GSP_PYTHON NAMES python3 python DOC "Python in which gsp-fd is installed")

# An object library of its own: Fast Downward's files keep their flags, and the linker keeps the registration.
add_library(gsp_plugin OBJECT
  ${GSP_PLUGIN_DIR}/gsp_heuristic.cc ${GSP_PLUGIN_DIR}/q_network.cc ${GSP_PLUGIN_DIR}/state_values.cc)
target_include_directories(gsp_plugin PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(gsp_plugin SYSTEM PRIVATE ${GSP_ONNXRUNTIME_INCLUDE})
target_compile_definitions(gsp_plugin PRIVATE "GSP_DEFAULT_PYTHON=\"${GSP_PYTHON}\"")
target_link_libraries(gsp_plugin PRIVATE common_cxx_flags gsp_c)

function(gsp_link_into_downward)
  target_sources(downward PRIVATE $<TARGET_OBJECTS:gsp_plugin>)
  # By its file: linking the target would add its include folder to the flags of Fast Downward's own files.
  target_link_libraries(downward PRIVATE $<TARGET_FILE:gsp_c> ${CMAKE_DL_LIBS})
  add_dependencies(downward gsp_c)
endfunction()

if(TARGET downward)
  gsp_link_into_downward()
elseif(CMAKE_VERSION VERSION_LESS 3.19)
  message(FATAL_ERROR "gsp: this CMake is older than 3.19; include gsp.cmake from src/search/CMakeLists.txt instead")
else()
  cmake_language(DEFER CALL gsp_link_into_downward)
endif()
