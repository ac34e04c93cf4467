"""What the explorer's pages compute: plain functions of the controls' values that return datasets.

Their arguments have the names of controls; the variables of their datasets are those that the views in `pages` draw and
that stand in the downloaded files. Their source is also the script under "As Python" (`as_python`): constants and
functions stand at the top of a file, two files that one page uses do not define the same name, and what is imported of
linnet is public.
"""
