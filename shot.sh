# shot NAME WIDTH HEIGHT FILE [dark]
d=""; [ "$5" = dark ] && d="--blink-settings=preferredColorScheme=0 --force-dark-mode --enable-features=none"
timeout 60 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=3000 --enable-logging=stderr --window-size=$2,$3 $d --screenshot=/tmp/report-x/$1.png "file://$4" 2>&1 | grep -i "console\|written" 
