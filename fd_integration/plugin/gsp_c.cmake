# The target gsp_c: lifted tasks, the encoder and the network of gsp-fd's core behind the C interface of gsp_fd/core/c_api.h.
get_filename_component(GSP_CORE ${CMAKE_CURRENT_LIST_DIR}/../../gsp_fd/core ABSOLUTE)
set(GSP_C_SOURCES axiom_layers axioms c_api common components database default_axioms encoder evaluator fdr_builder ground_space
  ground_task grounder heuristics lifted_space lifted_task mutex_groups network network_kernel network_weights q_heuristic
  relaxation relaxed_split relaxed_task relevance rule_program schema_split ground_values symmetry task_file)
list(TRANSFORM GSP_C_SOURCES PREPEND ${GSP_CORE}/)
list(TRANSFORM GSP_C_SOURCES APPEND .cpp)
add_library(gsp_c ${GSP_C_SOURCES})
target_compile_features(gsp_c PRIVATE cxx_std_20)
target_compile_options(gsp_c PRIVATE -O3 -Wall -Wextra)
set_source_files_properties(${GSP_CORE}/network_kernel.cpp PROPERTIES COMPILE_OPTIONS "-ffp-contract=fast;-Wno-psabi")
target_include_directories(gsp_c PUBLIC ${GSP_CORE})
set_target_properties(gsp_c PROPERTIES POSITION_INDEPENDENT_CODE ON)
