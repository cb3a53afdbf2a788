package data

import (
	_ "missingscore/data/arrow" // formats that tests read
	_ "missingscore/data/excel"
	_ "missingscore/data/parquet"
)
