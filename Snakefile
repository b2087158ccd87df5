# All of it is in workflow/; an `include:` line would forget which target is the default.
workflow.include("workflow/Snakefile", overwrite_default_target=True)
