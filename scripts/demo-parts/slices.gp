# Draws the middle slice before and after the filter, and their difference.
# Variables: folder (of before.bin, after.bin, difference.bin: raw float64), nx, ny, radius, output.
set terminal pngcairo size 1500,720 font "DejaVu Sans,13" background "white"
set output output

set multiplot layout 1,3 margins 0.055,0.985,0.235,0.93 spacing 0.05,0
set size ratio -1
set xrange [0:nx]
set yrange [0:ny]
set tics out nomirror scale 0.6
set xtics 50
set ytics 50
set xlabel "x (mm)" offset 0,0.3
set ylabel "y (mm)" offset 1,0
set colorbox horizontal user origin graph 0,-0.19 size graph 1,0.028
set cblabel "image intensity" offset 0,0.4
slice(name) = sprintf("%s/%s.bin", folder, name)

set palette gray
set cbrange [0:250]
set cbtics 50
set title "before" font ",15"
plot slice("before") binary array=(nx,ny) format='%float64' with image notitle
set title sprintf("after: wavenumbers up to %g", radius) font ",15"
unset ylabel
plot slice("after") binary array=(nx,ny) format='%float64' with image notitle
set palette defined (-1 "#2166ac", 0 "#f7f7f7", 1 "#b2182b")
set cbrange [-80:80]
set cbtics 40
set cblabel "difference of image intensity" offset 0,0.4
set title "after − before" font ",15"
plot slice("difference") binary array=(nx,ny) format='%float64' with image notitle
unset multiplot
