# Draws the radial power spectrum of the volume and where the filter cuts it.
# Variables: spectrum (columns: shell, power, modes), nx (the smallest extent), radius, output.
set terminal pngcairo size 1000,680 font "DejaVu Sans,13" background "white" linewidth 1.3
set output output
set title "Radial power spectrum of the volume" font ",15"
set logscale xy
set xrange [0.8:200]
set format y "10^{%T}"
set xlabel "wavenumber |k| (cycles per field of view)"
set ylabel "mean power of a mode (image intensity squared)"
set tics out nomirror
set border 3
set grid xtics ytics mxtics linecolor "#dddddd" linetype 1 linewidth 0.6
set key bottom left reverse Left
edge = int(nx / 2)
set arrow from radius, graph 0 to radius, graph 1 nohead dashtype 2 linecolor "#b2182b"
set label sprintf("the filter keeps |k| ≤ %g", radius) at radius, graph 0.95 offset -1,0 right textcolor "#b2182b"
set arrow from edge, graph 0 to edge, graph 1 nohead dashtype 3 linecolor "#666666"
set label sprintf("|k| > %d: only\nthe corners", edge) at edge, graph 0.95 offset 0.7,0 left font ",11" textcolor "#666666"
plot spectrum using 1:($1 > 0 && $3 > 0 ? $2 / $3 : NaN) with linespoints pointtype 7 pointsize 0.4 \
       linecolor "#2166ac" title "mean over the shell of modes that round to |k|"
